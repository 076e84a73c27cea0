"""What a large round has no time for is planned on, and handed over in the next round if it still fits."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import count

import pytest

from bridge.round.memory import NOTHING, Memory, Prepared, memory_from_json
from bridge.round.planner import plan_round
from bridge.round.preparing import prepare
from bridge.settings import PlanSettings, Settings
from bridge.wire.messages import Decision

LARGE = Settings(plan=PlanSettings(max_pairs=1))
SINCE = "placed by packing: 3 executors, planned since the round before"


@pytest.fixture
def request_of_two(make):
    supervisors = tuple(make.supervisor(f"h{number}", ports=(1, 2)) for number in range(2))
    topologies = [replace(make.chain(name, (1, 2), [0]), num_workers=1) for name in "ab"]
    return replace(make.cluster(*topologies), supervisors=supervisors, readings=(), deadline_ms=60_000)


def _plan(request, memory=NOTHING, looks=math.inf):
    """Time is over after so many looks at the clock."""
    ticks = count()
    return plan_round(request, LARGE, lambda: float(next(ticks) >= looks), memory=memory)


@pytest.fixture
def first(request_of_two):
    """A round in which time was enough for one of the two."""
    done = _plan(request_of_two, looks=5)
    assert [plan.decision for plan in done.response.plans] == [Decision.ASSIGN, Decision.UNPLACEABLE]
    assert done.unfinished
    return done


def test_the_rest_is_planned_as_if_the_answer_were_carried_out(request_of_two, first):
    (prepared,) = prepare(request_of_two, first.response, LARGE, lambda: 0.0)
    assert prepared.id == "b"
    given = first.response.plans[0]
    ids = [request_of_two.supervisors[index].id for index in given.executor_supervisor]
    used = set(zip(ids, given.executor_port, strict=True))
    assert not used & set(zip(prepared.supervisors, prepared.ports, strict=True))


def test_what_fits_only_above_what_is_declared_is_left_to_the_round_itself(request_of_two, first):
    """Its status line has to say so, and the check of what is handed over would refuse it each time."""
    heavy = replace(
        request_of_two.topologies[1], executor_cpu_percent=(90.0,) * 3, component_heap_mb=(1.0, 1.0)
    )
    request = replace(
        request_of_two,
        topologies=(request_of_two.topologies[0], heavy),
        supervisors=tuple(replace(each, cpu_percent=100.0) for each in request_of_two.supervisors),
    )
    assert prepare(request, first.response, LARGE, lambda: 0.0) == ()
    light = replace(heavy, executor_cpu_percent=(10.0,) * 3)
    request = replace(request, topologies=(request.topologies[0], light))
    assert [each.id for each in prepare(request, first.response, LARGE, lambda: 0.0)] == ["b"]


def test_the_next_round_takes_over_what_fits(make, request_of_two, first):
    """Also if the supervisors come in another order."""
    prepared = prepare(request_of_two, first.response, LARGE, lambda: 0.0)
    following = make.carried_out(request_of_two, first.response)
    turned = replace(
        following,
        supervisors=following.supervisors[::-1],
        topologies=tuple(
            replace(
                each,
                executor_supervisor=tuple(1 - at if at >= 0 else at for at in each.executor_supervisor),
            )
            for each in following.topologies
        ),
    )
    done = _plan(turned, memory=Memory(prepared=prepared))
    kept, handed = done.response.plans
    assert (kept.decision, handed.decision, handed.status) == (Decision.KEEP, Decision.ASSIGN, SINCE)
    assert [turned.supervisors[index].id for index in handed.executor_supervisor] == list(
        prepared[0].supervisors
    )
    assert handed.executor_port == prepared[0].ports
    assert done.memory.prepared == ()
    assert not done.unfinished


@pytest.mark.parametrize(
    "changes", [{"supervisors": ("gone",) * 3}, {"ports": (9, 9, 9)}, {"supervisors": (), "ports": ()}]
)
def test_what_does_not_fit_any_more_is_planned_anew(make, request_of_two, first, changes):
    (prepared,) = prepare(request_of_two, first.response, LARGE, lambda: 0.0)
    following = make.carried_out(request_of_two, first.response)
    done = _plan(following, memory=Memory(prepared=(replace(prepared, **changes),)))
    assert done.response.plans[1].decision is Decision.ASSIGN
    assert done.response.plans[1].status.startswith("placed by packing (auto): ")


def test_nothing_is_prepared_where_the_next_round_is_small(request_of_two, first):
    assert prepare(request_of_two, first.response, Settings(), lambda: 0.0) == ()


def test_a_stop_ends_it(request_of_two, first):
    assert prepare(request_of_two, first.response, LARGE, lambda: math.inf) == ()


def test_a_record_holds_what_was_prepared():
    memory = Memory(prepared=(Prepared("b", ("s1", "s2"), (1, 2)),))
    assert memory_from_json(memory.to_json()) == memory


def test_an_evicted_topology_is_planned_without_its_slots(make, request_of_two, first):
    running = make.assigned(request_of_two.topologies[0], (0, 0, 1), (1, 2, 1))
    request = replace(request_of_two, topologies=(running, request_of_two.topologies[1]))
    gone, placed = first.response.plans[1], first.response.plans[0]
    plans = (
        replace(gone, topology_id="a", evicted_for="b"),
        replace(placed, topology_id="b", executor_supervisor=(0, 0, 0), executor_port=(1, 1, 1)),
    )
    (prepared,) = prepare(request, replace(first.response, plans=plans), LARGE, lambda: 0.0)
    assert prepared.id == "a"
    assert ("id-h0", 1) not in set(zip(prepared.supervisors, prepared.ports, strict=True))


def test_all_that_is_prepared_is_handed_over_before_anything_else_is_described(make):
    """Half of a round's time would not do for ten of them here."""
    supervisors = tuple(make.supervisor(f"h{number}", ports=(1, 2)) for number in range(5))
    topologies = [replace(make.chain(f"t{number}", (1, 2), [0]), num_workers=1) for number in range(10)]
    request = replace(make.cluster(*topologies), supervisors=supervisors, readings=(), deadline_ms=60_000)
    refused = plan_round(replace(request, deadline_ms=0), LARGE, lambda: 0.0).response
    prepared = prepare(request, refused, LARGE, lambda: 0.0)
    assert len(prepared) == 10
    ticks = count()
    # The limit of a round is 0.8 s.
    done = plan_round(request, LARGE, lambda: 0.05 * next(ticks), memory=Memory(prepared=prepared))
    assert {plan.status for plan in done.response.plans} == {SINCE}
