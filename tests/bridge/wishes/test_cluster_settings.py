"""Nimbus' own keys: what they mean, and what becomes of bad values."""

from __future__ import annotations

import json

import pytest

from bridge.wire.contract import idl
from bridge.wishes.cluster_settings import ClusterSettings, Guarantee, parse_cluster_settings

POOLS = "resource.aware.scheduler.user.pools"
MACHINES = "isolation.scheduler.machines"


def test_every_key_sets_its_attribute() -> None:
    given = {
        POOLS: {"ann": {"cpu": 200, "memory": 1024.5}, "bob": {"memory": 1, "gpu": 3}},
        MACHINES: {"query": 2},
        "multitenant.scheduler.user.pools": {"ann": 4},
    }
    settings = parse_cluster_settings(json.dumps(given))
    assert settings.guarantees == {"ann": Guarantee(cpu=200.0, memory=1024.5), "bob": Guarantee(memory=1.0)}
    assert (settings.machines, settings.machines_of_user) == ({"query": 2}, {"ann": 4})
    assert settings.faults == ()


def test_the_shim_sends_exactly_the_keys_that_are_read() -> None:
    read = {str(field.alias) for name, field in ClusterSettings.model_fields.items() if name != "faults"}
    assert sorted(read) == list(idl.CLUSTER_KEYS)


@pytest.mark.parametrize("text", [None, "", "{}", json.dumps({POOLS: None, "storm.scheduler": 1})])
def test_what_is_not_said_is_empty(text: str | None) -> None:
    assert parse_cluster_settings(text) == ClusterSettings()


@pytest.mark.parametrize(
    ("key", "entry", "phrase"),
    [
        (POOLS, {"cpu": -1}, f"{POOLS}.eve.cpu: must be >= 0.0, got -1"),
        (POOLS, {"memory": "1g"}, f"{POOLS}.eve.memory: must be a number, got '1g'"),
        (POOLS, {"cpu": True}, f"{POOLS}.eve.cpu: must be a number, got true"),
        (POOLS, 3, f"{POOLS}.eve: must be a table, got 3"),
        (MACHINES, 0, f"{MACHINES}.eve: must be >= 1, got 0"),
        (MACHINES, "all", f"{MACHINES}.eve: must be a whole number, got 'all'"),
    ],
)
def test_a_bad_entry_is_named_and_the_others_count(key: str, entry: object, phrase: str) -> None:
    good = {POOLS: {"ann": {"cpu": 1}}, MACHINES: {"query": 2}}
    settings = parse_cluster_settings(json.dumps({**good, key: {**good[key], "eve": entry}}))
    assert settings.faults == (phrase,)
    assert settings.guarantees == {"ann": Guarantee(cpu=1.0)}
    assert settings.machines == {"query": 2}


def test_what_is_no_table_is_named() -> None:
    settings = parse_cluster_settings(json.dumps({POOLS: [1], MACHINES: {"query": 2}}))
    assert settings.faults == (f"{POOLS}: must be a table, got [1]",)
    assert settings.machines == {"query": 2}


@pytest.mark.parametrize("text", ["{", "[" * 100_000, "[]", "3"])
def test_what_is_no_object_is_named(text: str) -> None:
    assert parse_cluster_settings(text).faults[0].startswith("Nimbus' settings are no JSON")
