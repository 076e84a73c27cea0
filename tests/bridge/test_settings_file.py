"""A settings file is accepted as a whole or refused with every fault in one sentence."""

from __future__ import annotations

import itertools
import json
import re

import pytest

from bridge.settings import Settings
from bridge.settings_file import SettingsError, load_settings, settings_from_json

STRATEGIES = ("greedy", "local-search")


def load(tmp_path, text):
    path = tmp_path / "daemon.toml"
    path.write_text(text)
    return load_settings(path, STRATEGIES)


def test_an_empty_file_gives_the_defaults(tmp_path):
    """Every key has a default."""
    assert load(tmp_path, "") == Settings()


def test_values_of_a_file_are_taken(tmp_path):
    """Keys of several sections, a whole number for a decimal one, and a site table."""
    settings = load(
        tmp_path,
        """
        [server]
        port = 0
        [network]
        hop_overhead_ms = 3
        site_delay = [{between = ["a", "b"], delay_ms = 28}]
        [[network.site]]
        name = "a"
        tier = "edge"
        [plan]
        strategy = "greedy"
        """,
    )
    assert settings.network.tier_of_site == {"a": "edge"}
    assert settings_from_json(settings.to_json()) == settings
    assert (settings.server.port, settings.network.hop_overhead_ms, settings.plan.strategy) == (
        0,
        3.0,
        "greedy",
    )
    assert settings.network.site_delay[0].between == ("a", "b")


def test_an_older_name_of_a_key_is_taken_in_files_and_records(tmp_path):
    """Not beside the new one."""
    assert load(tmp_path, "[move]\nmax_moves_per_round = 5").move.max_restarts_per_round == 5
    assert settings_from_json('{"move": {"max_moves_per_round": 5}}').move.max_restarts_per_round == 5
    assert "max_moves_per_round" not in Settings().to_json()
    with pytest.raises(SettingsError, match=r"move\.max_moves_per_round: unknown key"):
        load(tmp_path, "[move]\nmax_moves_per_round = 5\nmax_restarts_per_round = 5")
    with pytest.raises(SettingsError, match=r"move\.max_moves_per_round: must be >= 0, got -1"):
        load(tmp_path, "[move]\nmax_moves_per_round = -1")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("[capacity]\nexecutors_per_host = 0", "capacity.executors_per_host: must be >= 1, got 0"),
        (
            "[capacity]\nresources = 'some'",
            "capacity.resources: must be 'soft', 'strict' or 'off', got 'some'",
        ),
        ("[capacity]\nuse_cpu = true", "capacity.use_cpu: unknown key"),
        ("[move]\nmin_gain = true", "move.min_gain: must be a number, got true"),
        ("[server]\nport = 70000", "server.port: must be <= 65535, got 70000"),
        ("[server]\nport = '7090'", "server.port: must be a whole number, got '7090'"),
        ("[server]\nprot = 7090", "server.prot: unknown key"),
        ("[serve]\nport = 7090", "serve: unknown key"),
        ("[move]\nmin_gain = nan", "move.min_gain: must be a finite number, got nan"),
        ("[plan]\nstrategy = 'magic'", "plan.strategy: must be one of greedy, local-search, got 'magic'"),
        ("[log]\nlevel = 'loud'", "log.level: must be 'debug', 'info', 'warning' or 'error', got 'loud'"),
        ("[record]\ndirectory = ''", "record.directory: must be text of 1 or more characters, got ''"),
        ("[plan]\nseed = true", "plan.seed: must be a whole number, got true"),
        ("server = 7090", "server: must be a table, got 7090"),
        ("[network]\nsite_delay = 'a'", "network.site_delay: must be a list, got 'a'"),
        (
            "[network]\nsite_delay = [{between = ['a', 'b', 'c'], delay_ms = 1}]",
            "network.site_delay[0].between: must be a list of at most 2, got ['a', 'b', 'c']",
        ),
        (
            "[network]\nsite_delay = [{between = ['a', 'B'], delay_ms = 1}]",
            "network.site_delay[0].between[1]: must be text of the form ^[a-z][a-z0-9-]*$, got 'B'",
        ),
        ("[network]\nsite_delay = [{between = ['a', 'b']}]", "network.site_delay[0].delay_ms: missing"),
        (
            "[network]\nsite_delay = [{between = ['a', 'a'], delay_ms = 1}]",
            "network: site_delay names the pair a - a twice or a site with itself",
        ),
        (
            "[[network.site]]\nname = 'a'\ntier = 'mist'",
            "network.site[0].tier: must be 'edge', 'fog' or 'cloud', got 'mist'",
        ),
        (
            "[[network.site]]\nname = 'a'",
            "network.site[0]: states nothing of a: expected tier, unit_cost or uplink_bytes_per_s",
        ),
        (
            "[[network.site]]\nname = 'a'\nunit_cost = -1",
            "network.site[0].unit_cost: must be >= 0.0, got -1",
        ),
        (
            "[[network.site]]\nname = 'a'\nuplink_bytes_per_s = 0",
            "network.site[0].uplink_bytes_per_s: must be > 0.0, got 0",
        ),
        (
            "[[network.link]]\nbetween = ['a', 'b']",
            "network.link[0]: states nothing of a - b: expected cost or bandwidth_bytes_per_s",
        ),
        (
            "[[network.link]]\nbetween = ['a', 'a']\ncost = 1",
            "network: link names the pair a - a twice or a site with itself",
        ),
        (
            "[network]\nlink = [{between = ['a', 'b'], cost = 1}, {between = ['b', 'a'], cost = 1}]",
            "network: link names the pair b - a twice or a site with itself",
        ),
        (
            "[[network.link]]\nbetween = ['a', 'b']\nbandwidth_bytes_per_s = -2.5",
            "network.link[0].bandwidth_bytes_per_s: must be > 0.0, got -2.5",
        ),
        (
            "[network]\nsite = [{name = 'a', tier = 'fog'}, {name = 'a', tier = 'fog'}]",
            "network: site names a twice",
        ),
    ],
)
def test_a_fault_is_stated_with_its_path(tmp_path, text, fault):
    """Section and key, the rule, and what was found."""
    with pytest.raises(SettingsError) as caught:
        load(tmp_path, text)
    assert str(caught.value) == f"{tmp_path / 'daemon.toml'}: {fault}"


@pytest.mark.parametrize(
    ("text", "doubt"),
    [
        ("[plan]\ndeadline_margin_ms = 801", "plan.deadline_margin_ms 801 is above plan.time_limit_ms 800: "),
        ("[server]\nmax_rounds = 17", "server.max_rounds 17 is above server.max_connections 16: "),
    ],
)
def test_values_that_contradict_each_other_are_named(tmp_path, text, doubt):
    """They are taken, as records may hold them, and the daemon's log says what is odd."""
    (found,) = load(tmp_path, text).doubts()
    assert found.startswith(doubt)
    assert Settings().doubts() == ()


@pytest.mark.parametrize("section", Settings.model_fields)
def test_every_fault_of_every_key_is_stated_in_our_words(section):
    """Whatever stands in the place of a value: its key, and what it must be."""
    odd = [None, True, -1, 1.5, 10**30, float("nan"), "", "A b", [], ["a"], {}, {"x": 1}, [[]], "x" * 200]
    ours = rf"{section}[\w.\[\]]*: (must be .{{1,160}}, got .{{1,90}}|unknown key|missing)$"
    keys = Settings.model_fields[section].annotation.model_fields
    for key, value in itertools.product((None, *keys), odd):
        data = {section: value if key is None else {key: value}}
        try:
            settings_from_json(json.dumps(data))
        except SettingsError as error:
            for fault in str(error).split("; "):
                assert re.match(ours, fault)


def test_all_faults_are_stated_at_once(tmp_path):
    """Unknown keys, bad values and unknown strategies of one file come in one sentence."""
    with pytest.raises(SettingsError) as caught:
        load(tmp_path, "[server]\nport = -1\nx = 1\n[plan]\nstrategy = 'magic'\nseed = -1\n")
    for path in ("server.port", "server.x", "plan.strategy", "plan.seed"):
        assert f"{path}: " in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"[server", "is not TOML"), (b"\xff\xfe", "is not UTF-8"), (None, "cannot be read")],
)
def test_a_file_that_is_no_settings_is_refused(tmp_path, content, message):
    """No TOML, no text, no file."""
    path = tmp_path / "daemon.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(SettingsError, match=message):
        load_settings(path, STRATEGIES)


def test_settings_survive_json(tmp_path):
    """Records hold the settings as JSON; reading them back gives the same settings and the same digest."""
    settings = load(tmp_path, '[network]\nsite_delay = [{between = ["a", "b"], delay_ms = 28}]')
    again = settings_from_json(settings.to_json())
    assert again == settings
    assert again.digest() == settings.digest() != Settings().digest()


def test_foreign_json_is_refused():
    """A record of settings that this version does not know is refused with the key."""
    with pytest.raises(SettingsError, match=r"server\.gone: unknown key"):
        settings_from_json('{"server": {"gone": 1}}')
