"""A plan that restarts executors names its price in its answer and, in short, in the status line."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from bridge.network_settings import NetworkSettings
from bridge.round.memory import Memory, Start
from bridge.round.planner import plan_round
from bridge.round.price.price_list import with_price_lists
from bridge.round.round_report import Course
from bridge.settings import MoveSettings, PlanSettings, Settings
from bridge.wire.messages import Decision, Drain, Price
from formats.drain import content_of
from scheduler.contract.children import INLINE
from scheduler.model.metrics.catalogue import METRICS, RANGED
from tests.bridge.conftest import assigned, cluster
from tests.bridge.round.planner_rounds import AT_ONCE, stopped
from tests.bridge.round.price.priced_rounds import NEAR, acking, moving, rates

RAN = Memory(measured=False, starts=tuple(Start(s, "uniroma2", True) for s in (9.0, 11.0, 13.0)))
LEARNED = replace(RAN, starts=tuple(Start(s / 2, "uniroma2", True, s) for s in (9.0, 11.0, 13.0)))


def only(request, memory=LEARNED, move=AT_ONCE, **sections):
    done = plan_round(request, Settings(move=move, **sections), stopped, memory=memory)
    assert done.traces == ()
    return done.response.plans[0]


def costing(request, *, far=8.0, **meta):
    """Hosts overseas cost more."""
    return replace(
        request,
        supervisors=tuple(
            replace(
                each,
                meta={**each.meta, "stormplace.cost": str(far if "us" in each.host else 2.0), **meta},
            )
            for each in request.supervisors
        ),
    )


BOTH = {"response_time": 0.5, "cost": 0.5}
LOADS = {"stormplace.pull.mb.per.sec": "10"}


def test_it_has_every_metric_of_staying_and_after_in_its_unit():
    """As the plan's own evaluation has them; those of which nothing is known are left out."""
    plan = only(moving())
    price = plan.price
    values = dict(zip(price.metrics, zip(price.staying, price.after, strict=True), strict=True))
    assert values["response_time_ms"][1] == pytest.approx(plan.response_time_ms)
    assert price.gain == pytest.approx(1 - values["response_time_ms"][1] / values["response_time_ms"][0])
    known = {METRICS[name].answer for name in RANGED} - {"cost", "migration_cost", "duration_excess_ms"}
    assert values.keys() == known
    assert only(costing(moving())).price.known("cost") == (3 * 2.0 + 2 * 8.0, 5 * 2.0)


def test_the_status_line_has_its_short_form_first():
    """What moves, what that brings and how long it stands still, then who decided it."""
    plan = only(moving())
    before, after = plan.price.known("response_time_ms")
    assert plan.status.startswith(
        f"moved 4 executors (5 workers restart): response time {before:.1f} -> {after:.1f} ms, "
        "pause about 12 s; by ils (auto) for a gain of "
    )


def test_the_objective_is_named_where_more_than_the_response_time_is_weighed():
    """Of staying and after, on one scale."""
    plan = only(costing(moving(weights=BOTH)))
    assert plan.price.objective_before > plan.objective
    assert f": F {plan.price.objective_before:.3f} -> {plan.objective:.3f}, response time " in plan.status
    assert ", cost 22 -> 10 units/s, pause about " in plan.status
    assert only(moving()).price.objective_before is None


def test_where_an_executor_was_missing_there_is_no_objective_of_staying():
    """It is placed and the others move in one round: what ran before was not whole."""
    request = costing(moving(weights=BOTH))
    (topology,) = request.topologies
    lost = assigned(topology, [*topology.executor_supervisor[:-1], -1], [*topology.executor_port[:-1], -1])
    plan = only(replace(request, topologies=(lost,)))
    assert plan.price.executors_moved > 0
    assert (plan.price.objective_before, plan.price.payback_s, plan.price.metrics) == (None, None, ())


@pytest.mark.parametrize(
    ("memory", "pause_s", "source", "samples", "words"),
    [
        (Memory(measured=False), 20.0, "default", 0, "pause about 20 s (default)"),
        (LEARNED, pytest.approx(11 + 2 / 3), "first starts at uniroma2", 3, "pause about 12 s"),
        (
            RAN,
            pytest.approx(11 + 2 / 3),
            "first starts at uniroma2, until they run",
            3,
            "pause about 12 s until workers run",
        ),
    ],
)
def test_the_pause_says_what_it_rests_on(memory, pause_s, source, samples, words):
    """Two workers start where none ran: the last is expected at two thirds of what was measured."""
    plan = only(moving(), memory)
    price = plan.price
    assert price.pause_s == pause_s
    assert (price.pause_source, price.pause_samples) == (source, samples)
    assert f"{words};" in plan.status


def test_tuples_are_replayed_where_rates_are_measured():
    """Without them that is left out."""
    assert only(moving()).price.replayed_tuples is None
    request = moving()
    price = only(replace(request, readings=(*request.readings, rates()))).price
    assert price.replayed_tuples > 0


def test_images_and_what_they_cost_are_named_where_they_are_stated():
    """Each host that runs no executor yet loads the image, and state comes with its executor."""
    price = only(costing(moving(), **LOADS)).price
    assert (price.pulled_mb, price.move_cost, price.payback_s) == (None, None, None)
    request = costing(moving(image_mb=50, state_mb={"first": 20}), **LOADS)
    price = only(request).price
    assert price.pulled_mb == 2 * 50.0 + 20.0
    assert price.move_cost == pytest.approx((2 * 5.0 + 2.0) * 2.0)
    assert price.known("migration_cost") == (0.0, pytest.approx(price.move_cost))
    assert price.payback_s == pytest.approx(price.move_cost / (22.0 - 10.0))


def test_what_a_host_does_not_state_is_not_known():
    """Neither a price that is not stated, nor a rate."""
    loading = moving(image_mb=50)
    price = only(costing(loading)).price
    assert (price.pulled_mb, price.move_cost, price.known("cost")) == (None, None, (22.0, 10.0))
    request = costing(loading, **LOADS)
    bare, *others = request.supervisors
    bare = replace(bare, meta={key: value for key, value in bare.meta.items() if key != "stormplace.cost"})
    price = only(replace(request, supervisors=(bare, *others))).price
    assert (price.pulled_mb, price.move_cost, price.known("cost")) == (None, None, (None, None))


def test_the_payback_follows_the_weights_where_they_weigh_the_cost():
    """A shorter response time is worth something too; what costs more than it is worth never pays."""
    request = costing(moving(weights=BOTH, image_mb=50), **LOADS)
    price = only(request).price
    assert price.move_cost > 0
    assert 0 < price.payback_s < price.move_cost / (price.known("cost")[0] - price.known("cost")[1])
    dear = only(costing(moving(image_mb=50), far=1.0, **LOADS)).price
    assert dear.move_cost > 0
    assert dear.payback_s is None
    assert listed(request, payback_s=math.inf)[0].payback_s is None


def listed(request, *, end_s=math.inf, **price):
    """The price of a plan that had none, and the round, if its lists may be written until some time."""
    settings = Settings(move=AT_ONCE)
    done = plan_round(request, settings, stopped)
    (plan,) = done.response.plans
    bare = replace(plan, price=Price(0.9, 4, 5, 5, **price))
    before = replace(done, response=replace(done.response, plans=(bare,)))
    course = Course(clock=lambda: 1.0, end_s=end_s, now_s=0.0, children=INLINE)
    found = with_price_lists(request, before, settings, LEARNED, course)
    return found.response.plans[0].price, before, found


def drained():
    """Two executors run at a site that is to be emptied."""
    drains = (Drain("site:europe-west1", content_of(None), 0),)
    return replace(cluster(acking([3, 3, 0, 0, 0])), drains=drains)


def test_a_drain_has_its_price():
    """What leaves drained hosts, beside staying there."""
    plan = only(drained(), move=MoveSettings())
    assert plan.status.startswith("moved 2 executors (1 worker restarts): response time ")
    assert "; 2 executors leave drained hosts; " in plan.status
    assert (plan.price.executors_moved, plan.price.executors_restarted) == (2, 2)
    assert plan.price.known("response_time_ms")[0] > plan.price.known("response_time_ms")[1]
    assert plan.price.objective_before is None


def test_where_delays_are_not_worked_out_it_has_no_metrics():
    """In a cluster of more hosts the rest is as ever."""
    plan = only(drained(), move=MoveSettings(), network=NetworkSettings(max_hosts=1))
    assert plan.status.startswith(
        "moved 2 executors (1 worker restarts): pause about 11 s; 2 executors leave"
    )
    assert plan.price.metrics == ()


def test_what_restarts_without_a_move_is_named():
    """A lost executor finds room only beside others, and was not running to be compared with."""
    request = cluster(assigned(acking(), [0, 0, 1, 1, -1], [6701] * 4 + [-1]))
    full = tuple(replace(each, ports=(6701,), meta={}) for each in request.supervisors[:2])
    plan = only(replace(request, supervisors=full))
    assert plan.status.startswith("1 worker restarts: pause about 11 s; placed by ")
    assert plan.price.pause_source == "first starts at uniroma2"
    assert (plan.price.executors_moved, plan.price.executors_restarted) == (0, 2)
    assert plan.price.metrics == ()


def test_a_first_placement_and_a_kept_topology_have_none():
    """Nothing stands still."""
    plan = only(cluster(acking()))
    assert plan.decision is Decision.ASSIGN
    assert plan.price == Price(0.0, 0, 0, 0)
    assert plan.status.startswith("placed by ")
    assert only(cluster(acking(NEAR))).price is None


def test_a_plan_is_none_the_worse_for_a_price_that_fails(monkeypatch):
    """The log has the trace."""
    monkeypatch.setattr("bridge.round.price.price_list.expected_pause", lambda *_: 1 / 0)
    done = plan_round(moving(), Settings(move=AT_ONCE), stopped)
    (plan,) = done.response.plans
    assert plan.decision is Decision.ASSIGN
    assert plan.price.pause_s is None
    assert [topology for topology, _ in done.traces] == ["t"]


def test_a_search_that_takes_all_of_its_time_leaves_enough_for_the_list():
    """The shim waits for longer than a round may plan."""
    request = replace(moving(), deadline_ms=3_000)
    seconds = iter([0.0] * 20 + [1.5] * 10_000)
    settings = Settings(move=AT_ONCE, plan=PlanSettings(time_limit_ms=1_000))
    done = plan_round(request, settings, lambda: next(seconds))
    (plan,) = done.response.plans
    assert (done.timed_out, plan.decision) == (True, Decision.ASSIGN)
    assert plan.price.pause_s is not None


def test_what_time_does_not_suffice_for_has_no_list_and_says_so():
    """A replay, which has the time, may then differ."""
    _, before, found = listed(moving(), end_s=0.0)
    assert found.response == before.response
    assert (before.timed_out, found.timed_out) == (False, True)
    _, before, found = listed(moving())
    assert found.response != before.response
    assert not found.timed_out
