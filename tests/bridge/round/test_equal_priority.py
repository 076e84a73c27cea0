"""Of topologies of one priority the one submitted first comes first, then the lower id, in whatever order."""

from __future__ import annotations

import json

import pytest

from bridge.wire.messages import Decision
from tests.bridge.round.whole_rounds import SIZES, answers, chain, hosts_and, settings_of

TEN = json.dumps({"topology.priority": 10})


def placed(make, size, wishes):
    """Which of these find room where there is room for one of them.

    Args:
        make: Builders of requests.
        size: How rounds are planned.
        wishes: Time of submission and Storm's keys by topology.
    """
    topologies = [
        chain(make, name, cpu=250.0, launched_s=at, storm_json=keys) for name, (at, keys) in wishes.items()
    ]
    found = []
    for order in (topologies, topologies[::-1]):
        plans = answers(hosts_and(make, *order, hosts=8), settings_of(size, "strict"))
        found.append({name for name, plan in plans.items() if plan.decision is Decision.ASSIGN})
        refused = [plan.status for plan in plans.values() if plan.decision is Decision.UNPLACEABLE]
        assert len(refused) == len(wishes) - 1
        assert all("250" in status for status in refused)
    # the order in which they are listed decides nothing
    assert all(each == found[0] for each in found)
    return found[0]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("keys", [None, TEN], ids=["default", "ten"])
def test_the_one_submitted_first_comes_first(make, size, keys):
    assert placed(make, size, {"a": (30, keys), "b": (20, keys), "c": (10, keys)}) == {"c"}


@pytest.mark.parametrize("size", SIZES)
def test_of_those_submitted_at_once_the_lower_id_comes_first(make, size):
    assert placed(make, size, {"c": (10, TEN), "b": (10, TEN), "d": (10, TEN)}) == {"b"}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("bad", ["high", -1, 1e400, True])
def test_a_priority_that_is_none_is_the_usual_one(make, size, bad):
    """Before it come those of a better priority, and those of the usual one that were submitted before."""
    keys = json.dumps({"topology.priority": bad})
    assert placed(make, size, {"a": (10, keys), "b": (20, TEN)}) == {"b"}
    assert placed(make, size, {"a": (20, keys), "b": (10, None)}) == {"b"}
