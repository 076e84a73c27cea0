"""Which hosts topologies get for themselves."""

from __future__ import annotations

import json
import sys
from dataclasses import replace

import numpy as np

from bridge.network.cluster import gather_hosts
from bridge.problem.isolation import isolate
from bridge.problem.permits import permits_of
from bridge.problem.ranking import rank
from bridge.readings.believed import read_nodes
from bridge.settings import PlanSettings, Settings
from bridge.wire.messages import UNASSIGNED
from bridge.wishes.cluster_settings import parse_cluster_settings
from bridge.wishes.wishes import wishes_of

SETTINGS = Settings()


def _topology(make, name, hosts=(UNASSIGNED,) * 4, port=6700, **changes):
    topology = make.chain(name, (2, 2), [0])
    ports = tuple(UNASSIGNED if host == UNASSIGNED else port for host in hosts)
    return replace(make.assigned(topology, hosts, ports), **changes)


class _Case:
    """Hosts h0, h1, ... and topologies, some of which are isolated by name."""

    def __init__(self, make, *topologies, hosts=4, unusable=(), supervisors=None, **keys) -> None:
        supervisors = supervisors or tuple(
            make.supervisor(f"h{each}", blacklisted=each in unusable) for each in range(hosts)
        )
        self.request = replace(make.cluster(*topologies), supervisors=supervisors, readings=())
        self.cluster = parse_cluster_settings(
            json.dumps({f"{key.replace('_', '.')}": value for key, value in keys.items()})
        )
        self.hosts = gather_hosts(
            self.request, SETTINGS, read_nodes(self.request, frozenset(), SETTINGS.readings)
        )
        wishes = [wishes_of(topology, SETTINGS.plan) for topology in topologies]
        order = rank(self.request, wishes, self.cluster).order
        self.found = isolate(self.request, self.hosts, wishes, order, self.cluster)

    def own(self, index=0):
        return np.flatnonzero(self.found.own[index]).tolist()

    def permits(self, index, *, evict=False):
        topology = self.request.topologies[index]
        own = wishes_of(topology, SETTINGS.plan).own
        permits = permits_of(topology, own, self.hosts.hosts)
        return self.found.narrow(index, topology, permits, PlanSettings(evict=evict))


def _isolated(make, *topologies, machines=2, **changes):
    return _Case(make, *topologies, isolation_scheduler_machines={"t": machines}, **changes)


def test_the_hosts_with_fewest_executors_of_others_are_taken(make) -> None:
    case = _isolated(make, _topology(make, "t"), _topology(make, "u", (0, 0, 1, 3)))
    assert case.own() == [1, 2]
    assert case.found.notes == {0: "isolated on 2 hosts"}


def test_the_topology_keeps_the_hosts_where_it_runs(make) -> None:
    """Though others run there and not elsewhere."""
    running = _topology(make, "t", (3, 3, 1, 1))
    case = _isolated(make, running, _topology(make, "u", (1, 1, 3, 3), 6701))
    assert case.own() == [1, 3]


def test_of_more_hosts_than_it_may_have_those_with_most_of_it_are_kept(make) -> None:
    case = _isolated(make, _topology(make, "t", (0, 2, 3, 3)), machines=1)
    assert case.own() == [3]


def test_two_topologies_do_not_share_a_host(make) -> None:
    """The first one in the order does not take a host from one that runs there."""
    new, running = _topology(make, "t", launched_s=1), _topology(make, "u", (0, 0, 1, 1), launched_s=2)
    case = _Case(make, new, running, hosts=3, isolation_scheduler_machines={"t": 2, "u": 2})
    assert (case.own(0), case.own(1)) == ([2], [0, 1])
    assert case.found.notes[0] == "isolated on 1 host only, as no more of 2 can be had"


def test_dead_and_blacklisted_hosts_and_those_without_ports_are_not_taken(make) -> None:
    supervisors = (
        make.supervisor("h0", alive=False),
        make.supervisor("h1", blacklisted=True),
        make.supervisor("h2", ports=()),
        make.supervisor("h3"),
    )
    case = _isolated(make, _topology(make, "t", (1, 1, 1, 1)), supervisors=supervisors)
    assert case.own() == [3]
    assert case.permits(0).tolerated[0].tolist() == [True, True, False, True]


def test_hosts_that_a_pin_permits_are_taken(make) -> None:
    pinned = _topology(make, "t", settings_json='{"topology.stormplace.pin": {"c1": "host:h3"}}')
    assert _isolated(make, pinned, _topology(make, "u", (3, 3, 3, 3)), machines=1).own() == [3]
    avoiding = _topology(make, "t", settings_json='{"topology.stormplace.avoid": ["host:h0", "host:h2"]}')
    assert _isolated(make, avoiding, machines=3).own() == [1, 3]


def test_no_more_hosts_than_executors(make) -> None:
    assert len(_isolated(make, _topology(make, "t"), hosts=6, machines=6).own()) == 4


def test_others_may_come_to_what_is_left(make) -> None:
    case = _isolated(make, _topology(make, "t"), _topology(make, "u", (0, 0, 1, 1)))
    assert case.own() == [2, 3]
    assert case.permits(0).permitted[0].tolist() == [False, False, True, True]
    assert case.permits(0).tolerated[0].tolist() == [False, False, True, True]
    assert case.permits(1).permitted[0].tolist() == [True, True, False, False]


def test_what_runs_of_others_stays_unless_topologies_may_be_evicted(make) -> None:
    case = _isolated(make, _topology(make, "t"), _topology(make, "u", (0, 0, 1, 1)), hosts=2, machines=1)
    assert case.own() == [0]
    assert case.permits(1).tolerated[0].tolist() == [True, True]
    assert case.permits(1, evict=True).tolerated[0].tolist() == [False, True]


def test_a_topology_without_any_host_left_says_why(make) -> None:
    case = _isolated(make, _topology(make, "t"), _topology(make, "u"), hosts=2)
    assert case.permits(1).reasons == {
        row: f"c{row} may not come to any of the hosts that are not another topology's own" for row in (0, 1)
    }


def test_a_topology_may_ask_for_hosts_where_its_user_has_some(make) -> None:
    asking = _topology(make, "t", owner="ann", storm_json='{"topology.isolate.machines": 3}')
    pools = {"multitenant_scheduler_user_pools": {"ann": 9}}
    assert len(_Case(make, asking, **pools).own()) == 3
    assert _isolated(make, asking, machines=1, **pools).own() == [0]
    assert not _Case(make, asking).found.concerns(0)
    assert not _Case(make, asking).found.notes


def test_pools_of_machines_bound_what_users_get(make) -> None:
    """Of Ann's three machines two go to the first of her topologies; Bob has none."""
    first, second, third = (
        _topology(make, name, owner=owner, launched_s=at, storm_json='{"topology.isolate.machines": 2}')
        for at, (name, owner) in enumerate([("t", "ann"), ("u", "ann"), ("v", "bob")])
    )
    case = _Case(make, first, second, third, hosts=6, multitenant_scheduler_user_pools={"ann": 3})
    assert [len(case.own(index)) for index in (0, 1)] == [2, 1]
    assert 2 not in case.found.own
    assert case.found.notes[2] == "not isolated, as the machines of its user do not allow 2 hosts"


def test_twice_as_many_topologies_on_twice_as_many_hosts_take_twice_as_many_steps(make) -> None:
    """A sum that is built anew for each topology takes four times as many."""

    def steps(count):
        others = [_topology(make, f"u{each:03}", (each,) * 4) for each in range(count)]
        case = _isolated(make, _topology(make, "t"), *others, hosts=count)
        wishes = [wishes_of(topology, SETTINGS.plan) for topology in case.request.topologies]
        taken = 0

        def trace(*_):
            nonlocal taken
            taken += 1
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            isolate(case.request, case.hosts, wishes, range(count + 1), case.cluster)
        finally:
            sys.settrace(before)
        return taken

    assert steps(200) < 2.5 * steps(100)


def test_without_the_keys_nothing_is_narrowed(make) -> None:
    case = _Case(make, _topology(make, "t"))
    assert not case.found.concerns(0)
    assert case.permits(0).permitted.all()
