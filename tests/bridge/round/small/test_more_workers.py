"""Hosts with slots for as many workers as are asked for, and how many executors each takes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bridge.network.cluster import gather_hosts
from bridge.problem.frame import make_frame
from bridge.problem.occupancy import RoundState
from bridge.problem.task import make_task
from bridge.readings.believed import read_nodes
from bridge.round.small.more_workers import offer_of
from bridge.settings import Settings
from bridge.wishes.wishes import wishes_of

SETTINGS = Settings()


class _Case:
    """A chain of six executors on hosts h0, h1, ... of sites a and b in turn."""

    def __init__(self, make, workers, slots, room, runs=()):
        """Executors of `runs` are in these slots, host and port; the others are to be placed."""
        supervisors = tuple(
            make.supervisor(
                f"h{host}",
                ports=tuple(range(ports)),
                meta={"stormplace.site": "ab"[host % 2], "stormplace.executors": str(most)},
            )
            for host, (ports, most) in enumerate(zip(slots, room, strict=True))
        )
        placed = [*runs, *[(-1, -1)] * (6 - len(runs))]
        topology = make.assigned(
            make.chain("t", (3, 3), [0]), [host for host, _ in placed], [port for _, port in placed]
        )
        request = make.cluster(replace(topology, num_workers=workers))
        request = replace(request, supervisors=supervisors, readings=())
        hosts = gather_hosts(request, SETTINGS, read_nodes(request, frozenset(), SETTINGS.readings))
        self.state = RoundState(request, hosts, "soft")
        wishes = wishes_of(request.topologies[0], SETTINGS.plan)
        self.task = make_task(self.state, 0, wishes, SETTINGS.plan).loose
        self.fixed = [None if host < 0 else host for host, _ in placed]

    def offer(self):
        return offer_of(self.state, self.task, self.frame(), self.fixed)

    def frame(self, most=None):
        return make_frame(self.state, replace(self.task, most=most), self.fixed)

    def quotas(self, placement):
        quotas = self.offer().quotas(placement)
        return None if quotas is None else quotas.tolist()


def test_each_worker_gets_as_many_executors_as_the_others_or_one_more(make):
    assert _Case(make, 4, slots=[1] * 6, room=[6] * 6).quotas([2, 2, 3, 3, 4, 4]) == [1, 0, 2, 1, 2, 0]
    assert _Case(make, 4, slots=[3, 3, 3], room=[6] * 3).quotas([0, 0, 0, 1, 1, 1]) == [4, 2, 0]


def test_further_hosts_are_of_the_sites_that_are_used(make):
    assert _Case(make, 3, slots=[1] * 4, room=[6] * 4).quotas([1] * 6) == [2, 2, 0, 2]


def test_workers_are_at_most_as_many_as_slots_and_executors(make):
    assert _Case(make, 9, slots=[2, 1], room=[6, 6]).offer().total == 3
    assert _Case(make, 9, slots=[9, 9], room=[6, 6]).offer().total == 6
    assert _Case(make, 3, slots=[9, 9], room=[6, 6]).offer().total == 3


def test_slots_of_workers_that_go_on_running_take_no_other_worker(make):
    """Two of three slots run a worker each; one of four executors that are left comes to the third."""
    runs = [(0, 0), (0, 1)]
    case = _Case(make, 4, slots=[3, 2], room=[6, 6], runs=runs)
    assert (case.offer().running, case.offer().slots.tolist(), case.offer().total) == (2, [1, 2], 4)
    assert case.quotas([0] * 6) == [4, 2]


@pytest.mark.parametrize(
    ("room", "quotas"),
    [([2, 6, 3], [0, 6, 0]), ([1, 6, 5], [1, 5, 0]), ([1, 2, 3], None), ([0, 2, 4], [0, 2, 4])],
)
def test_hosts_of_most_room_are_taken_where_the_first_ones_have_too_little(make, room, quotas):
    assert _Case(make, 2, slots=[2, 2, 2], room=room).quotas([0, 0, 0, 1, 1, 2]) == quotas


def test_a_host_to_which_no_executor_may_come_offers_nothing(make):
    case = _Case(make, 4, slots=[2, 2], room=[6, 6])
    closed = replace(case.task, permits=case.task.permits.closed_to(np.array([True, False])))
    frame = make_frame(case.state, closed, case.fixed)
    assert offer_of(case.state, closed, frame, case.fixed).total == 2


def test_what_is_proved_for_a_number_of_executors_per_host_is_not_proved_for_all_placements(make):
    case = _Case(make, 4, slots=[1] * 4, room=[6] * 4)
    frame = case.frame(np.array([2, 2, 1, 0]))
    assert case.frame().whole
    assert not frame.whole
    assert frame.hosts.tolist() == [0, 1, 2]
    assert frame.capacity[:, 0].tolist() == [2, 2, 1]
