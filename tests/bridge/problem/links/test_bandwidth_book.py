"""What topologies send between sites, against the streams of their executors one by one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.network.cluster import Host
from bridge.network.site_links import gather_site_links
from bridge.network_settings import NetworkSettings
from bridge.problem.component_flows import component_flows
from bridge.problem.executor_graph import build_executor_graph
from bridge.problem.links.bandwidth_book import BandwidthBook
from bridge.problem.links.traffic import Sending, sending, traffic
from bridge.settings import PlanSettings
from bridge.wire.messages import UNASSIGNED, ComponentKind, Grouping
from bridge.wishes.topology_settings import parse_topology_settings

PLAN = PlanSettings()
NETWORK = NetworkSettings.model_validate(
    {
        "site": [{"name": "a", "uplink_bytes_per_s": 1000.0}],
        "link": [{"between": ["b", "c"], "bandwidth_bytes_per_s": 500.0}],
    }
)
HOSTS = [Host(f"h{k}", "abc"[k], (k,), usable=True, capacity={}) for k in range(3)]
LINKS = gather_site_links(HOSTS, NETWORK, {})


def with_acker(topology):
    """Every component acknowledges to one acker of two executors, which answers the spout."""
    count, executors = len(topology.component_names), topology.n_executors
    return replace(
        topology,
        component_names=(*topology.component_names, "__acker"),
        component_kinds=(*topology.component_kinds, ComponentKind.ACKER),
        stream_from=(*topology.stream_from, 0, *range(1, count), count),
        stream_to=(*topology.stream_to, *(count,) * count, 0),
        stream_ids=(*topology.stream_ids, "__ack_init", *("__ack_ack",) * (count - 1), "__ack_ack"),
        stream_groupings=(*topology.stream_groupings, *(Grouping.FIELDS,) * count, Grouping.DIRECT),
        executor_first_task=(*topology.executor_first_task, executors + 1, executors + 2),
        executor_last_task=(*topology.executor_last_task, executors + 1, executors + 2),
        executor_component=(*topology.executor_component, count, count),
        executor_cpu_percent=(0.0,) * (executors + 2),
        executor_memory_mb=(0.0,) * (executors + 2),
        executor_supervisor=(UNASSIGNED,) * (executors + 2),
        executor_port=(UNASSIGNED,) * (executors + 2),
    )


@given(
    seed=st.integers(0, 10_000),
    parallelism=st.lists(st.integers(1, 4), min_size=2, max_size=4),
    grouping=st.sampled_from([Grouping.SHUFFLE, Grouping.ALL, Grouping.GLOBAL, Grouping.FIELDS]),
)
@settings(max_examples=40)
def test_it_is_the_sum_over_streams_of_executors(make, seed, parallelism, grouping):
    """Wherever they run or do not run, acknowledgements included; both directions together."""
    topology = with_acker(make.chain("t", parallelism, [grouping] * (len(parallelism) - 1)))
    declared = {"c0": 40.0, "c1": 7.0}
    flows = component_flows(topology, PLAN, declared)
    graph = build_executor_graph(topology, PLAN, declared)
    site = np.random.default_rng(seed).integers(0, 5, topology.n_executors)  # 3: none known, 4: no slot
    of_name = dict(zip(graph.names, site.tolist(), strict=True))
    wanted = np.zeros((4, 4))
    for stream in graph.streams:
        one, other = of_name[stream.source], of_name[stream.target]
        if one != other and max(one, other) < 4:
            wanted[one, other] += stream.rate * stream.tuple_bytes
    found = traffic(Sending(flows, ()), site, LINKS)
    pairs = np.array([(one, other) for one in range(4) for other in range(4)])
    assert found.of_pairs(pairs, 3).reshape(4, 4) == pytest.approx(wanted + wanted.T)
    assert found.of_uplinks(3) == pytest.approx((wanted + wanted.T).sum(axis=0))


def book(make, *places, keys=None):
    """A chain of one spout and one bolt that gets 2 tuples of 100 bytes a second, for each pair of places."""
    own = parse_topology_settings(keys or "", {"c0", "c1"}, {"auto"}, "auto", 0)
    topology = make.chain("t", (1, 1), [Grouping.SHUFFLE])
    sent = sending(topology, own.model_copy(update={"rates": {"c0": 2.0}}), PLAN, None)
    return BandwidthBook(
        LINKS,
        (0, 1, 2),
        len(places),
        lambda k: places[k],
        lambda _: sent,
        ends_outside=lambda _: own.ends_outside,
        changed=[],
    )


def between(left, one, other):
    """What is left between two sites, infinite without a limit."""
    found = [
        most for pair, most in zip(left.pairs.tolist(), left.between, strict=True) if pair == [one, other]
    ]
    return found[0] if found else np.inf


def test_a_topology_has_what_the_others_leave(make):
    """Its own flows are not taken off; what is not limited stays so."""
    shared = book(make, (0, 1), (1, 2), (2, 2), (UNASSIGNED, UNASSIGNED))
    left = shared.left_by_others(1)
    assert left is not None
    assert (left.uplink[0], between(left, 1, 2)) == (800.0, 500.0)
    assert np.isinf(left.uplink[1:]).all()
    others = shared.left_by_others(0)
    assert others is not None
    assert (others.uplink[0], between(others, 1, 2), between(others, 0, 1)) == (1000.0, 300.0, np.inf)


def test_what_is_used_up_leaves_nothing_and_no_less(make):
    many = book(make, *[(0, 1)] * 7)
    left = many.left_by_others(0)
    assert left is not None
    assert left.uplink[0] == 0.0


def test_loads_are_those_of_all_over_ways_that_a_topology_takes(make):
    """The fullest first."""
    shared = book(make, (0, 1), (0, 2), (1, 2))
    loads = shared.loads(2)
    assert [(each.what, each.bytes_per_s, each.most) for each in loads] == [("link b - c", 200.0, 500.0)]
    assert [each.what for each in shared.loads(0)] == ["uplink a"]
    assert shared.loads(0)[0].part == pytest.approx(0.4)


def test_ends_outside_count_where_executors_run(make):
    """An origin at a site of its own sends what the spout emits to it."""
    keys = '{"topology.stormplace.origin": {"c0": "site:a"}}'
    assert book(make, (1, 1), keys=keys).loads(0)[0].bytes_per_s == pytest.approx(200.0)
    assert book(make, (0, 0), keys=keys).loads(0) == ()
    assert book(make, (UNASSIGNED, UNASSIGNED), keys=keys).loads(0) == ()


def test_a_move_changes_the_book(make):
    """As soon as it is said that it was decided."""
    places, changed = [(0, 1), (1, 1)], []
    own = parse_topology_settings("", {"c0", "c1"}, {"auto"}, "auto", 0)
    sent = sending(make.chain("t", (1, 1), [Grouping.SHUFFLE]), own, PLAN, None)
    asked = []

    def supervisors_of(index):
        asked.append(index)
        return places[index]

    changing = BandwidthBook(
        LINKS,
        (0, 1, 2),
        2,
        supervisors_of,
        lambda _: sent,
        ends_outside=lambda _: False,
        changed=changed,
    )
    before = changing.left_by_others(1)
    places[0] = (1, 1)
    changed.append(0)
    after = changing.left_by_others(1)
    assert before is not None
    assert after is not None
    assert (before.uplink[0], after.uplink[0]) == (900.0, 1000.0)
    assert changing.loads(1) == ()
    # the other one was worked out once, however often it is asked for
    assert asked == [0, 1, 0]


def test_what_is_sent_elsewhere_counts(make):
    """By topologies that are in no plan: it is not left, and ways are as full as with it."""
    places = [(0, 1), (1, 2), (0, 2)]
    own = parse_topology_settings("", {"c0", "c1"}, {"auto"}, "auto", 0)
    sent = sending(make.chain("t", (1, 1), [Grouping.SHUFFLE]), own, PLAN, None)

    def book_of(count, elsewhere=None):
        return BandwidthBook(
            LINKS,
            (0, 1, 2),
            count,
            lambda k: places[k],
            lambda _: sent,
            ends_outside=lambda _: False,
            changed=[],
            elsewhere=elsewhere,
        )

    whole = book_of(3)
    alone = book_of(1, whole.sent_by_others(0))
    assert alone.loads(0) == whole.loads(0)
    wanted, found = whole.left_by_others(0), alone.left_by_others(0)
    assert wanted is not None
    assert found is not None
    assert found.uplink.tolist() == wanted.uplink.tolist()
    assert found.between.tolist() == wanted.between.tolist()
