"""Whatever JSON stands at a key, it is a value or a fault with a text."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bridge.network.cluster import gather_hosts
from bridge.problem.isolation import isolate
from bridge.problem.occupancy import RoundState
from bridge.problem.ranking import rank
from bridge.problem.task import make_task
from bridge.readings.believed import read_nodes
from bridge.settings import Settings
from bridge.wishes.cluster_settings import ClusterSettings, parse_cluster_settings
from bridge.wishes.setting_texts import read_settings, shown
from bridge.wishes.storm_settings import KEYS, parse_storm_settings
from bridge.wishes.topology_settings import ATTRIBUTES
from bridge.wishes.wishes import wishes_of

SETTINGS = Settings()
CLUSTER_KEYS = [str(field.alias) for field in ClusterSettings.model_fields.values() if field.alias]
HUGE = 10**400
HALF = "\ud800"


def _nested(levels):
    value = []
    for _ in range(levels):
        value = [value]
    return value


WORDS = st.sampled_from(
    [
        "parser",
        "globalRank",
        "ann",
        "taxi-1",
        "cpu",
        "memory",
        "maxNodeCoLocationCnt",
        "incompatibleComponents",
        "response_time",
        "cost",
        "*",
        "site:a",
        "host:uniroma2-1",
        "greedy",
        "9" * 12,
        "",
    ]
) | st.text(st.characters(exclude_categories=()), max_size=3)
NUMBERS = st.integers() | st.floats() | st.sampled_from([HUGE, -HUGE, 1, 2, 0.5, 1e300, 5e-324])
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=300, deadline=None)
@given(
    own=st.dictionaries(st.sampled_from(sorted(ATTRIBUTES)) | WORDS, VALUES, max_size=2),
    storm=st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=2),
    nimbus=st.dictionaries(st.sampled_from(CLUSTER_KEYS), VALUES, max_size=2),
)
@example({}, dict.fromkeys(KEYS, HUGE), {})
@example({}, dict.fromkeys(KEYS, _nested(15)), dict.fromkeys(CLUSTER_KEYS, _nested(15)))
@example({HALF: 1}, {KEYS[-1]: {HALF: 1}}, {key: {HALF: {HALF: HALF}} for key in CLUSTER_KEYS})
@example({}, {}, {key: {"ann": HUGE, "taxi-1": HUGE} for key in CLUSTER_KEYS})
@example({}, {}, {CLUSTER_KEYS[0]: {"ann": {"cpu": HUGE, "memory": 1e308}}})
def test_any_value_at_any_key_is_read_or_named(make, own, storm, nimbus):
    topology = replace(
        make.taxi(), settings_json=json.dumps(own), storm_json=json.dumps(storm), owner="ann", num_workers=3
    )
    request = make.cluster(topology)
    wishes = wishes_of(topology, SETTINGS.plan)
    cluster = parse_cluster_settings(json.dumps(nimbus))
    for fault in (*wishes.faults, *cluster.faults):
        assert fault.encode()
    hosts = gather_hosts(request, SETTINGS, read_nodes(request, frozenset(), SETTINGS.readings))
    order = rank(request, [wishes], cluster).order
    assert order == (0,)
    isolate(request, hosts, [wishes], order, cluster)
    make_task(RoundState(request, hosts, "soft"), 0, wishes, SETTINGS.plan)


@pytest.mark.parametrize("level", [("[", "]"), ('{"a":', "}")])
@pytest.mark.parametrize("levels", [21, 100, *range(900, 1000)])
def test_a_value_of_too_many_levels_is_named_and_the_others_count(levels, level):
    """Some could be read, but not shown."""
    value = level[0] * levels + "0" + level[1] * levels
    text = f'{{"topology.scheduler.favored.nodes": {value}, "topology.isolate.machines": 2}}'
    found = parse_storm_settings(text)
    if found.faults != ("Storm's settings are no JSON",):
        assert found.faults == ("topology.scheduler.favored.nodes: must have at most 20 levels",)
        assert found.machines == 2


def test_a_value_of_as_many_levels_as_allowed_is_read():
    text = json.dumps({"a": _nested(19), "b": {"c": _nested(18)}, "d": _nested(20), "e": {"c": _nested(19)}})
    found, unread = read_settings(text, "the")
    assert set(found) == {"a", "b"}
    assert set(unread) == {"d", "e"}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('"\\ud800"', "?"),
        ('"\\uDC00x"', "?x"),
        ('"\\ud83d\\ude00"', "\U0001f600"),
        ('"\\\\ud800"', "\\ud800"),
    ],
)
def test_half_of_a_surrogate_pair_is_replaced(text, value):
    assert read_settings(f'{{"a": {text}, "b": {text}}}', "the") == ({"a": value, "b": value}, {})


@pytest.mark.parametrize(
    "key", [key for key in KEYS if "heap" in key or "priority" in key or "machines" in key]
)
@pytest.mark.parametrize("value", [HUGE, -HUGE, 1e15], ids=["huge", "negative", "just too large"])
def test_a_number_beyond_reason_is_named(key, value):
    assert parse_storm_settings(json.dumps({key: value})).faults == (
        f"{key}: must be a number, got {shown(value)}",
    )


def test_long_values_are_cut_where_they_are_shown():
    assert shown("x" * 58) == repr("x" * 58)
    assert shown("x" * 59) == "'" + "x" * 56 + "..."
