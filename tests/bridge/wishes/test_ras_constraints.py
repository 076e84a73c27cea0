"""RAS constraints: both forms that Storm reads, and what is bad in them."""

from __future__ import annotations

import json

import pytest

from bridge.wishes.ras_constraints import Constraints, read_constraints
from bridge.wishes.storm_settings import parse_storm_settings

NAMES = ("a", "b", "c")


def test_the_object_separates_components_and_limits_them() -> None:
    """A single name stands for a list; a pair said from both sides is one pair."""
    given = {
        "a": {"maxNodeCoLocationCnt": 2, "incompatibleComponents": ["b", "c"]},
        "c": {"maxNodeCoLocationCnt": "3", "incompatibleComponents": "a"},
    }
    found, faults = read_constraints(given, None, NAMES)
    assert faults == ()
    assert found == Constraints(frozenset({("a", "b"), ("a", "c")}), (("a", 2), ("c", 3)))


def test_the_older_list_of_pairs_separates_components() -> None:
    found, faults = read_constraints([["b", "a"], ["c", "c"]], None, NAMES)
    assert (faults, found) == ((), Constraints(frozenset({("a", "b"), ("c", "c")})))


def test_spread_components_have_one_executor_on_a_node() -> None:
    found, faults = read_constraints(None, ["b", "c"], NAMES)
    assert (faults, found.per_node) == ((), (("b", 1), ("c", 1)))


def test_a_stated_number_outranks_spreading_and_the_contradiction_is_named() -> None:
    given = {"a": {"maxNodeCoLocationCnt": 2}, "b": {"maxNodeCoLocationCnt": 1}}
    found, faults = read_constraints(given, ["a", "b"], NAMES)
    assert found.per_node == (("a", 2), ("b", 1))
    assert faults == (
        "topology.spread.components[0]: contradicts topology.ras.constraints.a.maxNodeCoLocationCnt 2, "
        "which counts",
    )


@pytest.mark.parametrize(
    ("constraints", "spread", "phrase"),
    [
        (3, None, "topology.ras.constraints: must be an object by component or a list of pairs, got 3"),
        ({"x": {}}, None, "topology.ras.constraints.x: the topology has no component 'x'"),
        ({"b": 3}, None, "topology.ras.constraints.b: must be an object, got 3"),
        ({"b": {"most": 1}}, None, "topology.ras.constraints.b.most: unknown, known are maxNode"),
        (
            {"b": {"maxNodeCoLocationCnt": 0}},
            None,
            "must be a whole number >= 1, got 0",
        ),
        ({"b": {"maxNodeCoLocationCnt": -2}}, None, "must be a whole number >= 1, got -2"),
        ({"b": {"maxNodeCoLocationCnt": 1.5}}, None, "must be a whole number >= 1, got 1.5"),
        ({"b": {"maxNodeCoLocationCnt": True}}, None, "must be a whole number >= 1, got True"),
        ({"b": {"maxNodeCoLocationCnt": "9" * 5000}}, None, "must be a whole number >= 1, got '999"),
        ({"b": {"maxNodeCoLocationCnt": None}}, None, "must be a whole number >= 1, got None"),
        ({"b": {"incompatibleComponents": 3}}, None, "must be a component or a list of them, got 3"),
        ({"b": {"incompatibleComponents": ["x"]}}, None, "the topology has no component 'x'"),
        ({"b": {"incompatibleComponents": [["a"]]}}, None, "the topology has no component ['a']"),
        ([["a"]], None, "topology.ras.constraints[0]: must be a pair of components, got ['a']"),
        ([["a", "x"]], None, "topology.ras.constraints[0]: the topology has no component 'x'"),
        (["ab"], None, "topology.ras.constraints[0]: must be a pair of components, got 'ab'"),
        (None, "a", "topology.spread.components: must be a list of components, got 'a'"),
        (None, ["x"], "topology.spread.components[0]: the topology has no component 'x'"),
        (None, [1], "topology.spread.components[0]: the topology has no component 1"),
    ],
)
def test_what_is_bad_is_named_and_the_rest_holds(constraints: object, spread: object, phrase: str) -> None:
    if isinstance(constraints, dict):
        constraints = {**constraints, "a": {"incompatibleComponents": ["c"]}}
    elif isinstance(constraints, list):
        constraints = [*constraints, ["a", "c"]]
    found, (fault,) = read_constraints(constraints, spread, NAMES)
    assert phrase in fault
    assert found.per_node == ()
    assert found.apart == ({("a", "c")} if isinstance(constraints, dict | list) else frozenset())


def test_a_bad_constraint_leaves_the_other_keys_alone() -> None:
    text = json.dumps(
        {"topology.ras.constraints": 3, "topology.priority": -1, "topology.spread.components": ["a"]}
    )
    settings = parse_storm_settings(text, NAMES)
    assert settings.constraints.per_node == (("a", 1),)
    assert [fault.partition(":")[0] for fault in settings.faults] == [
        "topology.priority",
        "topology.ras.constraints",
    ]
