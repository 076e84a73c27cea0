"""The hosts for a closer look: most at the nearest site, some of the others, never full ones."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from bridge.network.cluster import UNLIMITED
from bridge.packing.grounds import Grounds
from bridge.packing.jobs import Order
from bridge.packing.vicinity import choose_nodes
from scheduler.packing.fleet import Fleet, Level
from scheduler.packing.job import Job, Worker

SITE = np.repeat(np.arange(3), 8)
FAR = np.array([[0.0, 9.0, 2.0], [9.0, 0.0, 9.0], [2.0, 9.0, 0.0]])


def _grounds(free: list[float] | None = None, slots: int = 2) -> Grounds:
    cpu = np.array(free or [100.0] * 24)
    table = np.stack([cpu, np.full(24, UNLIMITED), np.full(24, UNLIMITED)], axis=1)
    nodes = np.arange(24)
    return Grounds(
        fleet=Fleet(np.full((24, 3), 100.0), 1.0, (Level("host", nodes), Level("site", SITE, far=FAR))),
        resources=("CPU", "memory", "executors"),
        soft=np.zeros((24, 3), dtype=np.bool_),
        free=table,
        slots=np.full(24, slots),
        ports=((1, 2),) * 24,
        host=nodes,
    )


def _order(running: tuple[int, ...] = (), permitted=None, count: tuple[int, ...] = (2, 2)) -> Order:
    job = Job(
        count=np.array(count),
        demand=np.tile([50.0, 0.0, 1.0], (2, 1)),
        heap_mb=np.zeros(2),
        edges=np.array([[0, 1]]),
        weight=np.ones(1),
        permitted=permitted,
        running=tuple(Worker(node, np.array([1, 0])) for node in running),
    )
    return Order(0, job, np.arange(4), tuple((node, 6700) for node in running), ())


def _by_site(nodes) -> dict[int, int]:
    return dict(Counter(SITE[nodes].tolist()))


@pytest.mark.parametrize(("home", "found"), [(0, {0: 4, 2: 2, 1: 1}), (1, {1: 4, 0: 2, 2: 1})])
def test_near_sites_have_most(home, found) -> None:
    """The running supervisor is one of them; one more is tried at each further site."""
    chosen = choose_nodes(_grounds(), _order(running=(8 * home,)), 8)
    assert 8 * home in chosen
    assert _by_site(chosen) == found


def test_a_bound_component_has_its_hosts_among_them() -> None:
    permitted = np.ones((2, 24), dtype=np.bool_)
    permitted[0] = np.arange(24) == 23
    chosen = choose_nodes(_grounds(), _order(permitted=permitted), 8)
    assert 23 in chosen
    assert _by_site(chosen)[2] >= 4


def test_without_a_home_the_site_with_most_room_comes_first() -> None:
    free = [40.0] * 8 + [90.0] * 8 + [40.0] * 8
    assert _by_site(choose_nodes(_grounds(free), _order(), 4))[1] == 2


def test_of_a_site_the_roomiest_are_taken() -> None:
    free = [10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0] + [0.0] * 16
    assert choose_nodes(_grounds(free), _order(), 4)[-2:].tolist()[0] >= 7


def test_without_free_slots_only_what_runs_is_looked_at() -> None:
    assert choose_nodes(_grounds(slots=0), _order(running=(3, 4)), 8).tolist() == [3, 4]


def test_where_a_pin_is_broken_its_place_is_looked_at() -> None:
    """Nothing is missing, and nothing runs there yet."""
    permitted = np.ones((2, 24), dtype=np.bool_)
    permitted[0] = np.arange(24) >= 22
    chosen = choose_nodes(_grounds(), _order(running=(0,), permitted=permitted, count=(0, 0)), 8)
    assert {0, 22} <= set(chosen.tolist())
