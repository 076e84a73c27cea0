"""Every registered strategy serves topologies by its name; a new one is covered by being registered."""

from __future__ import annotations

import importlib
import json
import os
import select
import time
from dataclasses import replace
from pathlib import Path

import pytest

from bridge.children.processes import ChildProcesses
from bridge.record.record import RoundRecord
from bridge.record.replay_record import replay
from bridge.round.planner import plan_round
from bridge.settings import MoveSettings, PlanSettings, Settings
from bridge.wire.encoding import encode_request, encode_response
from bridge.wire.messages import Decision, Grouping
from scheduler.contract.children import INLINE
from scheduler.registry import STRATEGIES, anywhere
from tests.bridge.round.planner_rounds import stopped

# The smallest query that leaves something to decide: there are as many ends as a host has room for.
PINNED = {"pin": {"c0": "site:uniroma2", "c3": "site:us-east1"}}
SETTINGS = Settings(
    plan=PlanSettings(time_limit_ms=60_000),
    move=MoveSettings(max_restarts_per_round=1000, cool_down_s=0, stabilisation_s=0),
)
EXACT = [name for name in anywhere() if STRATEGIES[name].exact]

every_strategy = pytest.mark.parametrize("strategy", anywhere())


@pytest.fixture(scope="module")
def processes():
    with ChildProcesses() as processes:
        yield processes


def query(make, strategy, **settings):
    chain = make.chain("taxi-1", [1, 1, 1, 1], [Grouping.SHUFFLE] * 3)
    keys = {"strategy": strategy, **PINNED, **settings}
    configuration = {f"topology.stormplace.{key}": value for key, value in keys.items()}
    return make.cluster(replace(chain, settings_json=json.dumps(configuration)))


@pytest.fixture(scope="module")
def placed(make):
    """The plan of the query by a strategy, on a clock that stands: the same whenever it is made."""
    made = {}

    def planned(strategy):
        if strategy not in made:
            made[strategy] = plan(query(make, strategy))
        return made[strategy]

    return planned


def plan(request, clock=stopped, children=INLINE):
    done = plan_round(request, SETTINGS, clock, children=children)
    assert (done.traces, done.left_out) == ((), ())
    return done


@every_strategy
def test_a_strategy_is_chosen_by_its_name(placed, strategy):
    """The plan is there, passes the daemon's check, and says who made it and what it is worth."""
    (answer,) = placed(strategy).response.plans

    assert (answer.decision, answer.strategy) == (Decision.ASSIGN, strategy)
    author = "ils (auto)" if strategy == "auto" else strategy
    assert answer.status.startswith(f"placed by {author}: {answer.response_time_ms:.1f} ms response time")
    assert answer.bound is None or answer.bound <= answer.objective + 1e-9


@every_strategy
def test_planning_on_its_result_moves_nothing(make, placed, strategy):
    """The next round keeps what this one decided; what an exact one has proved stands in both."""
    first = placed(strategy).response
    (answer,) = first.plans
    (again,) = plan(make.carried_out(query(make, strategy), first)).response.plans

    assert again.decision is Decision.KEEP
    assert again.status.startswith("kept: ")
    if strategy in EXACT:
        assert " ms response time, optimal, over " in answer.status
        assert answer.bound == pytest.approx(answer.objective, abs=1e-6)
        if not again.status.startswith("kept: no placement can gain enough; "):
            assert " ms response time, optimal, over " in again.status
            assert again.bound == pytest.approx(again.objective, abs=1e-6)


@every_strategy
def test_a_round_without_a_cut_is_replayed_to_the_same_bytes(make, strategy):
    """A real clock that does not run out decides nothing."""
    request = query(make, strategy)
    done = plan(request, time.monotonic)
    record = RoundRecord(
        encode_request(request), encode_response(done.response), SETTINGS.to_json(), "", 0.0, {}, False, {}
    )

    assert not done.timed_out
    assert replay(record) == record.response


def test_without_a_proof_the_status_does_not_claim_one(placed):
    """Greedy proves nothing."""
    (answer,) = placed("greedy").response.plans

    assert answer.bound is None
    assert "optimal" not in answer.status


@pytest.mark.parametrize("strategy", EXACT)
def test_what_runs_is_not_optimal_because_a_better_placement_is(make, placed, strategy):
    """The better one may not restart any executor: the status says how far the one that runs is above it."""
    cluster = query(make, strategy)
    scattered = make.assigned(cluster.topologies[0], [0, 6, 1, 5])
    few = SETTINGS.model_copy(update={"move": SETTINGS.move.model_copy(update={"max_restarts_per_round": 0})})
    (answer,) = plan_round(replace(cluster, topologies=(scattered,)), few, stopped).response.plans
    (best,) = placed(strategy).response.plans

    assert answer.decision is Decision.KEEP
    assert answer.bound == pytest.approx(best.objective, abs=1e-6)
    above = (answer.objective - answer.bound) / answer.objective
    assert above > 0.5
    # In round steps: the line of a topology that is kept must not change with noise.
    assert " ms response time, at most 100 % of F above the optimum, over " in answer.status
    assert "optimal" not in answer.status


@pytest.mark.parametrize("strategy", EXACT)
def test_a_proof_about_some_of_the_hosts_is_none_for_the_topology(make, strategy):
    """Hosts that were not considered may hold a better placement."""
    few = SETTINGS.model_copy(update={"plan": PlanSettings(time_limit_ms=60_000, max_hosts=4)})
    (answer,) = plan_round(query(make, strategy), few, stopped).response.plans

    assert answer.decision is Decision.ASSIGN
    assert answer.bound is None
    assert "optimal" not in answer.status
    assert "optimum" not in answer.status


def test_a_proof_with_some_executors_held_is_none_for_the_topology(make):
    """Seven run somewhere bad: the best place for the eighth makes no optimum."""
    topology = make.taxi(settings={"strategy": "odp"})
    partial = make.assigned(topology, [0, 5, 3, 6, 4, 5, 3, -1], [6700] * 7 + [-1])
    done = plan_round(
        make.cluster(partial), SETTINGS.model_copy(update={"move": MoveSettings(min_gain=1.0)}), stopped
    )
    (answer,) = done.response.plans

    assert answer.decision is Decision.ASSIGN
    assert answer.bound is None
    assert "optimal" not in answer.status


@pytest.mark.parametrize("strategy", EXACT)
def test_solvers_in_child_processes_answer_as_they_do_here(make, placed, strategy, processes):
    """Where a solver runs, and which of two is faster, changes no byte of a plan that it could finish."""
    there = plan(query(make, strategy), time.monotonic, processes)

    assert not there.timed_out
    assert encode_response(there.response) == encode_response(placed(strategy).response)


@pytest.mark.parametrize(("settings", "seconds"), [({}, 30.0), ({"time.limit.ms": 500}, 0.5)])
def test_a_topology_gets_the_time_that_it_allows_itself_at_most(make, monkeypatch, settings, seconds):
    """Else its share: of a minute for two topologies the first one gets half."""
    given = []

    def timed(problem, parameters, context, /):
        given.append(context.deadline.remaining())
        return STRATEGIES["greedy"].solve(problem, parameters, context)

    monkeypatch.setitem(STRATEGIES, "timed", replace(STRATEGIES["greedy"], name="timed", solve=timed))
    request = query(make, "timed", **settings)
    other = make.chain("taxi-2", [1], [])
    plan(replace(request, deadline_ms=100_000, topologies=(*request.topologies, other)))

    assert given[0] == pytest.approx(seconds)


def test_a_child_that_overruns_is_killed_and_the_answer_still_comes(make, monkeypatch):
    """The strategy would wait for it for ever; the record says that time had a say."""
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "children")
    work = importlib.import_module("child_work")
    ended = []
    # However slowly the child starts, time is over only once it has answered.
    times = [0.0]

    def patient(problem, parameters, context, /):
        job = context.children.start(work.stubborn, None, context.deadline)
        assert job.wait(60.0)
        ended.append(os.pidfd_open(job.messages()[0]))
        times.append(times[-1] + 1.0)
        while not job.ended:
            job.wait(3600.0)
        return STRATEGIES["greedy"].solve(problem, parameters, context)

    monkeypatch.setitem(STRATEGIES, "patient", replace(STRATEGIES["greedy"], name="patient", solve=patient))
    request = replace(query(make, "patient", **{"time.limit.ms": 500}), deadline_ms=60_000)
    with ChildProcesses(preload=()) as children:
        done = plan(request, lambda: times[-1], children)
        gone, _, _ = select.select(ended[:1], [], [], 60.0)
    for each in ended:
        os.close(each)

    assert gone
    assert done.timed_out
    assert done.response.plans[0].decision is Decision.ASSIGN


@pytest.mark.parametrize("strategy", [name for name in anywhere() if STRATEGIES[name].anytime])
def test_a_cut_search_still_answers_and_the_record_says_so(make, strategy):
    """The clock jumps to the end of the round after a few looks at it."""
    looks = iter(range(10**9))

    def hurried():
        return 0.0 if next(looks) < 6 else 59.9

    done = plan_round(replace(query(make, strategy), deadline_ms=60_000), SETTINGS, hurried)
    (answer,) = done.response.plans

    assert done.timed_out
    assert answer.decision is Decision.ASSIGN


@every_strategy
def test_cost_and_traffic_can_be_weighed(make, strategy):
    """By every strategy; F stands in the status where it is more than the response time."""
    request = query(make, strategy, weights={"response_time": 0.5, "cost": 0.25, "inter_node_traffic": 0.25})
    dear = [
        replace(each, meta={**each.meta, "stormplace.cost": "1.5" if "rome" in each.host else "0.5"})
        for each in request.supervisors
    ]
    (answer,) = plan(replace(request, supervisors=tuple(dear))).response.plans

    assert answer.decision is Decision.ASSIGN
    assert f"F {answer.objective:.4f}, " in answer.status
    assert "stormplace.cost" not in answer.status


def test_weighing_a_cost_that_no_host_states_is_stated(make):
    """It would count for nothing in silence."""
    (answer,) = plan(query(make, "greedy", weights={"cost": 1})).response.plans

    assert "cost is weighed but no supervisor states stormplace.cost" in answer.status


def test_weighing_moves_whose_price_is_not_known_is_stated(make):
    """Likewise."""
    (answer,) = plan(query(make, "greedy", weights={"response_time": 0.5, "migration": 0.5})).response.plans

    assert "migration is weighed but the price of a move is not known" in answer.status
