"""Topologies with hosts for themselves, in small and in large rounds."""

from __future__ import annotations

import json
from dataclasses import replace

from bridge.wire.messages import Decision
from tests.bridge.round.full_clusters import BOTH, cluster, hosts_of, strict, topology

TWO = {"isolation_scheduler_machines": {"t": 2}}


@BOTH
def test_a_topology_and_the_others_have_different_hosts(make, max_pairs) -> None:
    """Also in the rounds that follow, though the others then run where they run."""
    plan = strict(max_pairs)
    request = cluster(
        make, topology(make, "t", 6), *(topology(make, name, cpu=50.0) for name in "uvw"), hosts=4, **TWO
    )
    plans, done = plan(request)
    own = hosts_of(request, plans["t"])
    assert len(own) == 2
    assert all(own.isdisjoint(hosts_of(request, plans[name])) for name in "uvw")
    assert "isolated on 2 hosts" in plans["t"].status
    more = make.carried_out(request, done.response)
    following, _ = plan(more)
    assert {each.decision for each in following.values()} == {Decision.KEEP}
    assert "isolated on 2 hosts" in following["t"].status
    new = replace(more, topologies=(*more.topologies, topology(make, "x", 2)))
    assert own.isdisjoint(hosts_of(new, plan(new)[0]["x"]))


@BOTH
def test_a_topology_asks_for_hosts_itself(make, max_pairs) -> None:
    storm = json.dumps({"topology.isolate.machines": 1})
    asking = topology(make, "t", 2, storm_json=storm, owner="ann")
    pools = {"multitenant_scheduler_user_pools": {"ann": 1}}
    request = cluster(make, asking, topology(make, "u", cpu=10.0), hosts=2, **pools)
    plans, _ = strict(max_pairs)(request)
    assert hosts_of(request, plans["t"]).isdisjoint(hosts_of(request, plans["u"]))


@BOTH
def test_what_runs_on_its_hosts_stays_and_nothing_new_comes(make, max_pairs) -> None:
    """One executor of "u" is missing: it goes to the host of its own though it runs on the other too."""
    running = make.assigned(topology(make, "u", cpu=10.0), (0, 0, 1, -1), (6700, 6700, 6700, -1))
    isolated = make.assigned(topology(make, "t", 2, cpu=10.0), (0, 0), 6701)
    request = cluster(make, isolated, running, isolation_scheduler_machines={"t": 1})
    plans, _ = strict(max_pairs)(request)
    assert plans["t"].decision is Decision.KEEP
    assert plans["u"].executor_supervisor == (0, 0, 1, 1)


@BOTH
def test_too_few_hosts_are_said_and_used(make, max_pairs) -> None:
    request = cluster(make, topology(make, "t"), hosts=1, **TWO)
    plans, _ = strict(max_pairs)(request)
    assert plans["t"].decision is Decision.ASSIGN
    assert "isolated on 1 host only, as no more of 2 can be had" in plans["t"].status


@BOTH
def test_no_room_on_its_hosts_is_no_reason_to_go_elsewhere(make, max_pairs) -> None:
    """Three hosts are free, it may have two: twelve executors of one core each do not fit."""
    request = cluster(make, topology(make, "t", 12), hosts=3, **TWO)
    plans, _ = strict(max_pairs)(request)
    assert plans["t"].decision is Decision.UNPLACEABLE
    assert "isolated on 2 hosts" in plans["t"].status


@BOTH
def test_others_without_any_host_left_have_the_reason(make, max_pairs) -> None:
    request = cluster(make, topology(make, "t"), topology(make, "u", 2), **TWO)
    plans, _ = strict(max_pairs)(request)
    assert plans["u"].decision is Decision.UNPLACEABLE
    assert "may not come to any of the hosts that are not another topology's own" in plans["u"].status


def test_a_topology_that_becomes_isolated_moves_to_its_host(make) -> None:
    """As if it were pinned there, and what runs of others leaves where topologies may be evicted."""
    isolated = make.assigned(topology(make, "t", cpu=10.0), (0, 0, 0, 1), 6700)
    other = make.assigned(topology(make, "u", cpu=10.0), (0, 1, 1, 1), 6701)
    request = cluster(make, isolated, other, isolation_scheduler_machines={"t": 1})
    plans, _ = strict(10**9)(request)
    assert hosts_of(request, plans["t"]) == {"h0"}
    assert plans["u"].decision is Decision.KEEP
    plans, _ = strict(10**9, evict=True)(request)
    assert hosts_of(request, plans["u"]) == {"h1"}
