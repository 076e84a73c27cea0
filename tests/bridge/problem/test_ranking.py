"""The order of topologies, by priority and by what users are guaranteed."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from bridge.problem.ranking import rank
from bridge.settings import PlanSettings
from bridge.wishes.cluster_settings import parse_cluster_settings
from bridge.wishes.wishes import wishes_of


def _topology(make, name, owner, *, cpu=100.0, memory=100.0, priority=29, launched_s=0):
    return replace(
        make.chain(name, (1, 1), [0]),
        owner=owner,
        executor_cpu_percent=(cpu / 2, cpu / 2),
        executor_memory_mb=(memory / 2, memory / 2),
        storm_json=json.dumps({"topology.priority": priority}),
        launched_s=launched_s,
    )


def _rank(make, *topologies, pools=None, cpu=1000.0, memory=1000.0):
    supervisors = tuple(
        make.supervisor(f"h{each}", cpu_percent=cpu / 2, memory_mb=memory / 2) for each in (1, 2)
    )
    request = replace(make.cluster(*topologies), supervisors=supervisors)
    wishes = [wishes_of(topology, PlanSettings()) for topology in topologies]
    cluster = parse_cluster_settings(json.dumps({"resource.aware.scheduler.user.pools": pools}))
    return rank(request, wishes, cluster)


def _names(ranking, topologies):
    return "".join(topologies[index].id for index in ranking.order)


def test_without_guarantees_priority_then_submission_then_id_decide(make) -> None:
    topologies = [
        _topology(make, "a", "ann", launched_s=5),
        _topology(make, "b", "bob", launched_s=4),
        _topology(make, "c", "bob", priority=1, launched_s=9),
        _topology(make, "d", "ann", launched_s=4),
    ]
    ranking = _rank(make, *topologies)
    assert _names(ranking, topologies) == "cbda"
    assert ranking.within == frozenset()


def test_users_below_their_guarantees_come_first_whatever_priorities_say(make) -> None:
    """Ann's guarantee covers one of her two topologies; the other one comes after Bob's."""
    topologies = [
        _topology(make, "a", "ann", priority=20),
        _topology(make, "b", "ann", priority=10),
        _topology(make, "c", "bob", priority=0),
    ]
    pools = {"ann": {"cpu": 100, "memory": 100}}
    ranking = _rank(make, *topologies, pools=pools)
    assert _names(ranking, topologies) == "bca"
    assert ranking.within == {1}


def test_of_users_below_their_guarantees_the_one_with_most_left_of_it_comes_first(make) -> None:
    topologies = [_topology(make, "a", "ann"), _topology(make, "b", "bob"), _topology(make, "c", "bob")]
    pools = {"ann": {"cpu": 150, "memory": 150}, "bob": {"cpu": 300, "memory": 300}}
    assert _names(_rank(make, *topologies, pools=pools), topologies) == "bca"


def test_the_resource_of_which_a_user_has_most_counts(make) -> None:
    """Ann is within her CPU but not within her memory."""
    topologies = [
        _topology(make, "a", "ann", memory=200.0),
        _topology(make, "b", "bob", cpu=10.0, memory=10.0),
    ]
    pools = {"ann": {"cpu": 1000, "memory": 100}}
    ranking = _rank(make, *topologies, pools=pools)
    assert _names(ranking, topologies) == "ba"
    assert ranking.within == frozenset()


def test_beyond_guarantees_users_get_equal_parts(make) -> None:
    """Ann's three come between Bob's, though all of hers were submitted first."""
    topologies = [
        *(_topology(make, name, "ann", launched_s=at) for at, name in enumerate("abc")),
        *(_topology(make, name, "bob", launched_s=10 + at) for at, name in enumerate("xy")),
    ]
    pools = {"eve": {"cpu": 1, "memory": 1}}
    assert _names(_rank(make, *topologies, pools=pools), topologies) == "axbyc"


@pytest.mark.parametrize("cpu", [0.0, -5.0, float("nan"), 100.0])
def test_where_nothing_is_left_priorities_decide(make, cpu) -> None:
    """With 100 % in all the first topology takes all."""
    topologies = [
        _topology(make, "a", "ann", launched_s=1),
        _topology(make, "b", "ann", priority=9, launched_s=2),
        _topology(make, "c", "bob", priority=5, launched_s=3),
        _topology(make, "d", None, priority=7, launched_s=4),
    ]
    ranking = _rank(make, *topologies, pools={"eve": {"cpu": 1}}, cpu=cpu)
    assert _names(ranking, topologies) == "cdba"


def test_no_topology_at_all(make) -> None:
    assert _rank(make, pools={"ann": {"cpu": 1}}).order == ()


def _gives_way(make, one, other, **changes):
    ranking = _rank(make, one, other, **changes)
    return ranking.gives_way(0, to=1), ranking.gives_way(1, to=0)


def test_only_lower_priority_gives_way(make) -> None:
    low, high = _topology(make, "a", "ann", priority=20), _topology(make, "b", "bob", priority=10)
    assert _gives_way(make, low, high) == (True, False)
    assert _gives_way(make, high, replace(high, id="c", launched_s=9)) == (False, False)


def test_what_a_guarantee_covers_gives_way_to_the_same_users_only(make) -> None:
    pools = {"ann": {"cpu": 500, "memory": 500}}
    low, high = _topology(make, "a", "ann", priority=20), _topology(make, "b", "bob", priority=0)
    own = _topology(make, "c", "ann", priority=10)
    assert _gives_way(make, low, high, pools=pools) == (False, True)
    assert _gives_way(make, low, own, pools=pools) == (True, False)
    assert _gives_way(make, own, replace(low, owner="eve"), pools=pools) == (False, True)
    both = {**pools, "bob": {"cpu": 400, "memory": 400}}
    assert _gives_way(make, low, high, pools=both) == (False, False)
    lowest = _topology(make, "b", "bob", priority=99)
    assert _gives_way(make, low, lowest, pools=both) == (False, False)
