"""Settings are taken as a whole, or refused with every fault in one sentence."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from provisioning.providers.settings import ProviderSettingsError, provider_settings

OFFER = "\n[offer.a]\ncpu = 400\nmemory_mb = 8192\nslots = 4\nbilling_unit_s = 600\nunit_cost = 1\n"
COMMAND = (
    "[provider]\nkind = 'command'\nstart_command = ['up', '{host}']\nstop_command = ['down', '{host}']\n"
)
SPOT = "host_pattern = 'spot-{number}'\n"


def settings(text: str) -> Any:
    return provider_settings(tomllib.loads(text))


def test_values_of_a_file_are_taken() -> None:
    found = settings(COMMAND + SPOT + OFFER)
    assert found.provider.start_command == ("up", "{host}")
    assert (found.offer["a"].cpu, found.offer["a"].boot_s) == (400.0, 60.0)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (OFFER, "provider: missing"),
        ("[provider]\nkind = 'cloud'\n" + OFFER, "provider: "),
        ("[provider]\nkind = 'lab'\n" + OFFER, "provider.sites: missing"),
        ("[provider]\nkind = 'simulated'\nsped = 1\n" + OFFER, "provider.sped: unknown key"),
        (
            "[provider]\nkind = 'simulated'\nseed = 1.5\n" + OFFER,
            "provider.seed: must be a whole number, got 1.5",
        ),
        ("[provider]\nkind = 'simulated'\n", "offer: at least one table [offer.NAME] is needed"),
        (
            "[provider]\nkind = 'simulated'\n" + OFFER.replace("slots = 4", "slots = 0"),
            "offer.a.slots: must be >= 1, got 0",
        ),
        (
            "[provider]\nkind = 'http'\nurl = 'http://a/v1'\n" + OFFER,
            "offer: a provider of kind http has offers",
        ),
        (
            "[provider]\nkind = 'http'\nurl = 'http://me:secret@a'\n",
            "provider.url: must hold no name or password",
        ),
        ("[provider]\nkind = 'http'\nurl = 'http://a/'\n", "provider.url: must be text of the form"),
        ("[provider]\nkind = 'http'\nurl = 'http://a'\ntoken = 'x'\n", "provider.token: unknown key"),
        (
            "[provider]\nkind = 'lab'\nsites = 'a.toml'\nadded_boot_s = 60\nboot_limit_s = 60\n" + OFFER,
            "provider.added_boot_s: must be < boot_limit_s (60), got 60",
        ),
        (
            COMMAND.replace("{host}", "{hots}") + SPOT + OFFER,
            "provider.start_command: {hots} is not known there; what is: {host}, {request}, {offer}, {lease}",
        ),
        (
            COMMAND + "list_command = ['list', '{request}']\n" + SPOT + OFFER,
            "provider.list_command: {request} is not known there; what is: none",
        ),
        (
            COMMAND + "status_command = ['s']\n" + OFFER,
            "provider.start_command: {host} is not known there; what is: {request}, {offer}, {lease}",
        ),
        (
            COMMAND.replace("{host}", "") + OFFER,
            "provider.hosts: names of hosts are needed, from hosts, host_pattern, status_command or",
        ),
        (COMMAND + SPOT + "hosts = ['a']\n" + OFFER, "provider.host_pattern: cannot stand beside hosts"),
        (COMMAND + "hosts = ['a', 'a']\n" + OFFER, "provider.hosts: a name is there twice"),
        (COMMAND + "hosts = ['-a']\n" + OFFER, "provider.hosts[0]: must be text of the form"),
        (
            COMMAND + "host_pattern = 'spot'\n" + OFFER,
            "provider.host_pattern: must hold {number} and no other",
        ),
        (
            COMMAND + SPOT + "status_command = ['s']\nlist_command = ['l']\n" + OFFER,
            "provider.list_command: cannot stand beside status_command",
        ),
        (COMMAND.replace("'up', ", "'', ") + SPOT + OFFER, "provider.start_command: its first argument, the"),
        (
            COMMAND.replace("['up', '{host}']", "'up'") + SPOT + OFFER,
            "provider.start_command: must be a list",
        ),
    ],
)
def test_a_fault_is_named_with_its_place(text: str, fault: str) -> None:
    with pytest.raises(ProviderSettingsError) as caught:
        settings(text)
    assert str(caught.value).startswith(fault)
    assert "secret" not in str(caught.value)


def test_all_faults_are_named() -> None:
    with pytest.raises(ProviderSettingsError, match=r"^provider\.a: unknown key; provider\.b: unknown key$"):
        settings("[provider]\nkind = 'simulated'\na = 1\nb = 1\n" + OFFER)
