"""Pauses are learned from what earlier plans took, by the number of workers that start and where that is."""

from __future__ import annotations

import pytest

from bridge.round.memory import Memory, Start, StartedWorker
from bridge.round.price.pause import DEFAULT_S, MOST_SAMPLES, expected_pause, starts_of
from tests.bridge.conftest import taxi

FIVE = (8.0, 10.0, 12.0, 14.0, 16.0)
DEFAULT = (DEFAULT_S, "default", 0)
HOSTS = [("a", "rome"), ("b", "oslo"), ("a", "rome"), ("c", None)]


def memory(again=(), first=(), site=None):
    """Restarts and first starts whose executors worked after so long, all at one site."""
    kinds = ((again, False), (first, True))
    return Memory(starts=tuple(Start(s / 2, site, kind, s) for pauses, kind in kinds for s in pauses))


def workers(again=0, first=0, site=None):
    """So many that start."""
    return (StartedWorker(1, site, False),) * again + (StartedWorker(2, site, True),) * first


@pytest.mark.parametrize(
    ("known", "again", "first"),
    [
        (memory(), DEFAULT, DEFAULT),
        (memory((1.0, 2.0), (3.0, 4.0)), DEFAULT, DEFAULT),
        (memory(FIVE, (30.0,) * 4), (12.0, "restarts", 5), (30.0, "first starts", 4)),
        (memory((), FIVE), (12.0, "first starts", 5), (12.0, "first starts", 5)),
        (memory((), (30.0,) * 4), DEFAULT, (30.0, "first starts", 4)),
        (memory(FIVE), (12.0, "restarts", 5), DEFAULT),
        (memory((40.0,) * 3), (40.0, "restarts", 3), (40.0, "restarts", 3)),
    ],
)
def test_restarts_and_first_starts_on_a_host_are_learned_apart_and_bound_each_other(known, again, first):
    """A first start takes no less than a restart. Of one worker it is the median, of both the longer one."""
    assert expected_pause(known, workers(again=1)) == again
    assert expected_pause(known, workers(first=1)) == first
    assert expected_pause(known, workers(again=1, first=1)) == max(again, first)


def test_the_more_workers_start_the_longer_the_last_of_them_takes():
    """Three quarters of all draws are below the longest of three, on average; no estimate leaves the data."""
    pauses = [expected_pause(memory(FIVE), workers(again=number)).pause_s for number in range(1, 20)]
    assert pauses[2] == 14.0
    assert pauses == sorted(pauses)
    assert pauses[-1] <= 16.0
    assert expected_pause(memory(FIVE), ()) == DEFAULT


def test_a_site_has_its_own_as_soon_as_enough_are_known_of_it():
    """Before, those of all sites count; of several sites the one that takes longest."""
    near, far = memory(first=(5.0,) * 3, site="rome"), memory(first=(30.0,) * 2, site="oslo")
    known = Memory(starts=(*near.starts, *far.starts))
    assert expected_pause(known, workers(first=1, site="rome")) == (5.0, "first starts at rome", 3)
    assert expected_pause(known, workers(first=1, site="oslo")) == (5.0, "first starts", 5)
    known = Memory(starts=(*known.starts, Start(15.0, "oslo", True, 30.0)))
    both = (*workers(first=1, site="rome"), *workers(first=1, site="oslo"))
    assert expected_pause(known, both) == (30.0, "first starts at oslo", 3)
    assert expected_pause(known, workers(first=1))[1:] == ("first starts", 6)


def test_where_only_starts_are_known_the_pause_is_until_workers_run():
    """And says so; as soon as three are known of when executors worked these count alone."""
    ran = tuple(Start(s, "rome", False) for s in (10.0, 11.0, 12.0))
    worked = tuple(Start(10.0, "rome", False, s) for s in (25.0, 26.0, 27.0))
    starting = workers(again=1, site="rome")
    assert expected_pause(Memory(starts=ran), starting) == (11.0, "restarts at rome, until they run", 3)
    assert expected_pause(Memory(starts=(*ran, *worked[:2])), starting)[1:] == (
        "restarts at rome, until they run",
        5,
    )
    assert expected_pause(Memory(starts=(*ran, *worked)), starting) == (26.0, "restarts at rome", 3)


def test_only_the_last_ones_count():
    """Hosts and jars change."""
    known = memory((*(99.0,) * MOST_SAMPLES, *(7.0,) * MOST_SAMPLES))
    assert expected_pause(known, workers(again=3)) == (7.0, "restarts", MOST_SAMPLES)


def test_hosts_count_that_run_the_topology_whatever_the_supervisor_and_port():
    """What stays as it is does not start, and what did not run does not stand still beside what did."""
    before = ((0, 6700), (0, 6700), (1, 6700), (1, 6700), None)
    after = ((0, 6700), (2, 6701), (1, 6700), (3, 6700), (3, 6701))
    assert set(starts_of(taxi(), before, after, HOSTS)) == {
        StartedWorker(1, "rome", False),
        StartedWorker(2, "rome", False),
        StartedWorker(3, "oslo", False),
        StartedWorker(4, None, True),
    }
    assert starts_of(taxi(), (*after[:4], None), after, HOSTS) == (StartedWorker(5, None, False),)
    assert starts_of(taxi(), (None,) * 5, ((1, 1),) * 5, HOSTS) == (StartedWorker(1, "oslo", True),)
    assert starts_of(taxi(), after, after, HOSTS) == ()
