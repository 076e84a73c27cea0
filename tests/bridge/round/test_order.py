"""Who comes first where there is not room for all, in small and in large rounds."""

from __future__ import annotations

import pytest

from bridge.wire.messages import Decision
from tests.bridge.round.full_clusters import BOTH, cluster, strict, topology

POOLS = "resource_aware_scheduler_user_pools"


@BOTH
def test_priority_comes_before_submission_and_id(make, max_pairs) -> None:
    topologies = [
        topology(make, "a", launched_s=1, priority=20),
        topology(make, "b", launched_s=3, priority=10),
        topology(make, "c", launched_s=2, priority=20),
    ]
    plans, _ = strict(max_pairs)(cluster(make, *topologies))
    assert {name: plan.decision for name, plan in plans.items()} == {
        "a": Decision.ASSIGN,
        "b": Decision.ASSIGN,
        "c": Decision.UNPLACEABLE,
    }


@BOTH
@pytest.mark.parametrize(("pools", "last"), [({}, "a"), ({"ann": {"cpu": 400, "memory": 10}}, "c")])
def test_who_is_below_the_guarantee_comes_first(make, max_pairs, pools, last) -> None:
    topologies = [
        topology(make, "a", owner="ann", priority=20),
        topology(make, "b", owner="bob", priority=10),
        topology(make, "c", owner="bob", priority=15),
    ]
    plans, _ = strict(max_pairs)(cluster(make, *topologies, **{POOLS: pools}))
    assert [name for name, plan in plans.items() if plan.decision is Decision.UNPLACEABLE] == [last]


@BOTH
def test_a_bad_guarantee_is_named(make, max_pairs) -> None:
    request = cluster(make, topology(make, "a", owner="ann"), **{POOLS: {"ann": {"cpu": "all"}}})
    plans, done = strict(max_pairs)(request)
    assert plans["a"].decision is Decision.ASSIGN
    said = "resource.aware.scheduler.user.pools.ann.cpu: must be a number, got 'all'"
    assert said in done.known.named_faults
