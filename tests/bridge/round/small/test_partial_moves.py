"""A change comes in parts that are feasible, within the restarts of a round, and never worse than before."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bridge.problem.occupancy import RoundState
from bridge.problem.task import make_task
from bridge.round.round_data import gather_data
from bridge.round.small.candidate import Candidate, best_of
from bridge.round.small.partial_moves import split
from bridge.round.small.round_limits import RoundLimits
from bridge.round.small.search import Search
from bridge.round.small.thresholds import Gain
from bridge.settings import Settings
from bridge.wishes.wishes import wishes_of
from scheduler.base.deadline import NO_DEADLINE, Deadline
from scheduler.evaluation.evaluate import OBJECTIVE_STEP, check, evaluate

SETTINGS = Settings()
FULL = (0, 0, 1, 1, 2, 2, 3, 4)


def posed(make, slots, roomy=False):
    """The taxi query on hosts of two executors, or of four, and its problem with all executors free."""
    request = make.cluster(make.assigned(make.taxi(), slots))
    if roomy:
        meta = {"stormplace.executors": "4"}
        request = replace(
            request, supervisors=tuple(replace(each, meta=meta) for each in request.supervisors)
        )
    data = gather_data(request, SETTINGS)
    state = RoundState(request, data.hosts, "soft")
    task = make_task(state, 0, wishes_of(request.topologies[0], SETTINGS.plan), SETTINGS.plan)
    search = Search(state, data.surroundings, lambda _: NO_DEADLINE)
    return state, task, search.pose(task, [None] * len(slots))


def parts_of(state, task, question, target, cap, *, deadline=NO_DEADLINE):
    limits = cap if isinstance(cap, RoundLimits) else RoundLimits(cap, cap)
    return split(state, task, question, target, first=limits, later=limits, deadline=deadline)


def hosts_named(state, *names):
    index = {host.name: number for number, host in enumerate(state.hosts.hosts)}
    return [index[name] for name in names]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    slots=st.permutations([0, 0, 1, 1, 2, 2, 3, 4]),
    target=st.permutations([0, 0, 1, 2, 3, 3, 4, 5]),
    limits=st.builds(
        RoundLimits,
        st.integers(2, 8),
        st.just(8),
        st.none() | st.integers(1, 6),
        st.none() | st.integers(1, 4),
    ),
    roomy=st.booleans(),
)
def test_each_part_is_feasible_and_no_worse_and_the_last_one_leads_there(make, slots, target, limits, roomy):
    """Whatever runs, wherever it is to run, and whatever a round may restart and move."""
    state, task, question = posed(make, slots, roomy)
    nodes = question.frame.nodes_of
    target = tuple(target)
    parts = parts_of(state, task, question, target, limits)
    worth = evaluate(question.problem, nodes([state.host_of(slot) for slot in state.initial(0)])).objective
    for part in parts:
        assert not check(question.problem, nodes(part.placement))
        restarted, before = state.restarted_workers(0, part.assignment), state.initial(0)
        assert sum(map(len, restarted)) <= limits.restarts
        assert limits.workers is None or len(restarted) <= limits.workers
        moved = sum(old != new for old, new in zip(before, part.assignment, strict=True))
        assert limits.moves is None or moved <= limits.moves
        assert [state.host_of(slot) for slot in part.assignment] == list(part.placement)
        after = evaluate(question.problem, nodes(part.placement)).objective
        assert after <= worth + OBJECTIVE_STEP
        state, worth = state.carried_out(0, part.assignment), after
    assert not parts or parts[-1].placement == target


def test_workers_on_full_hosts_trade_places_in_one_part(make):
    """Neither has room while the other is there; with a cap below both no sequence exists."""
    state, task, question = posed(make, FULL)
    there = [state.host_of(slot) for slot in state.initial(0)]
    target = (*there[2:4], *there[:2], *there[4:])
    worse = evaluate(question.problem, question.frame.nodes_of(target)).objective
    now = evaluate(question.problem, question.frame.nodes_of(there)).objective
    assert worse <= now + OBJECTIVE_STEP
    (part,) = parts_of(state, task, question, target, 4)
    assert (part.placement, state.restarts_by(0, part.assignment)) == (target, 4)
    assert parts_of(state, task, question, target, 3) == ()


def test_a_worker_is_joined_unless_that_restarts_too_much(make):
    """One executor comes to a worker of three: four restart, or it gets a slot of its own."""
    slots = [0, 1, 1, 1, 2, 2, 3, 3]
    state, task, question = posed(make, slots, roomy=True)
    (target,) = {
        tuple(hosts_named(state, *("uniroma2-2",) * 4, *("uniroma2-3",) * 2, *("europe-west1-1",) * 2))
    }
    (joined,), (apart,) = (parts_of(state, task, question, target, cap) for cap in (4, 3))
    assert (state.restarts_by(0, joined.assignment), joined.apart) == (4, False)
    assert (state.restarts_by(0, apart.assignment), apart.apart) == (1, True)


def test_without_time_there_are_no_parts(make):
    state, task, question = posed(make, FULL)
    there = [state.host_of(slot) for slot in state.initial(0)]
    target = (*there[2:4], *there[:2], *there[4:])
    assert parts_of(state, task, question, target, 8, deadline=Deadline(lambda: 1.0, 0.0)) == ()


@pytest.mark.parametrize(("gain", "chosen"), [(0.505, 1), (0.52, 0)])
def test_of_gains_that_are_about_the_same_the_one_of_fewest_restarts_counts(gain, chosen):
    candidates = [
        Candidate((k,), None, Gain(saved, None, saved, None), restarts, ())
        for k, (saved, restarts) in enumerate([(gain, 5), (0.5, 3)])
    ]
    assert best_of(candidates) is candidates[chosen]
    assert best_of([]) is None
