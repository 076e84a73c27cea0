"""What hosts and moves cost decides where executors run, as far as all of it is stated."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bridge.wire.messages import Decision
from tests.bridge.round.moving.priced_rounds import LOADS, PRICES, market, planned, rates

COST = {"weights": {"cost": 1.0}}
BOTH = {"weights": {"cost": 0.5, "migration": 0.5}}


def test_executors_go_where_hosts_cost_less(make):
    """From 20 a second to 2; moves have no price that is stated."""
    where, plan = planned(market(make, COST))
    assert where == ("cheap", "cheap")
    assert "; by ils (auto) for a gain of 100 %: " in plan.status


@pytest.mark.parametrize(
    ("model", "where"), [("per-executor", ("cheap", "far")), ("per-host", ("cheap", "cheap"))]
)
def test_a_host_is_paid_by_each_executor_or_once(make, model, where):
    """By executor two hosts cost as much as one that holds both, once paid they cost twice as much."""
    request = market(make, COST | {"cost.model": model}, ("cheap", "far"))
    assert len(set(planned(request)[0])) == len(set(where))


@pytest.mark.parametrize(
    ("settings", "moves"),
    [
        # To load takes 20 s at 1 a second: little beside the dearest moves that there are, ...
        (BOTH | {"image.mb": 200}, True),
        # ... and more than can be saved beside the scale that is stated.
        (BOTH | {"image.mb": 200, "migration.scale": 15}, False),
        (BOTH | {"state.mb": {"c0": 200, "c1": 200}, "migration.scale": 15}, False),
        (BOTH | {"image.mb": 200, "migration.scale": 15, "replan.persistence": "none"}, True),
        (COST | {"image.mb": 200, "migration.scale": 15}, True),
    ],
)
def test_what_a_move_costs_is_weighed(make, settings, moves):
    """Image and state take time to load, at the price of the host that loads."""
    where, plan = planned(market(make, settings))
    assert where == (("cheap", "cheap") if moves else ("dear", "dear"))
    assert ("no candidate is better" in plan.status) is not moves


def test_an_image_is_loaded_once_by_a_host(make):
    """Where an executor runs already the second one comes for nothing; where none runs it has its price."""
    settings = BOTH | {"image.mb": 200, "migration.scale": 15}
    assert planned(market(make, settings, ("cheap", "dear")))[0] == ("cheap", "cheap")
    assert planned(market(make, settings, ("dear", "dear")))[0] == ("dear", "dear")


def test_where_a_host_states_no_price_cost_moves_nothing(make):
    """It is no host for nothing: the status names it."""
    request = market(make, COST, cheap={})
    where, plan = planned(request)
    assert where == ("dear", "dear")
    assert "; cost is weighed but 1 host states no stormplace.cost (cheap); " in plan.status
    assert (
        "; cost is weighed but no supervisor states stormplace.cost; "
        in planned(market(make, COST, cheap={}, dear={}, far={}))[1].status
    )


def test_a_negative_price_is_none_and_named(make):
    """The host has no price then, and nothing moves for it."""
    request = market(make, COST, cheap={"stormplace.cost": "-1"})
    where, plan = planned(request)
    assert where == ("dear", "dear")
    assert "stormplace.cost of supervisor id-cheap is no number >= 0 ('-1')" in plan.status


def test_a_host_out_of_reach_need_not_state_a_price(make):
    """What the topology avoids makes no difference."""
    settings = COST | {"avoid": "host:far"}
    where, plan = planned(market(make, settings, far={}))
    assert where == ("cheap", "cheap")
    assert "weighed but" not in plan.status


@pytest.mark.parametrize(
    ("settings", "meta", "note"),
    [
        ({}, {}, "migration is weighed but the price of a move is not known"),
        (
            {"image.mb": 200},
            {"far": {"stormplace.cost": "1"}},
            "migration is weighed but 1 host states no stormplace.pull.mb.per.sec (far)",
        ),
        (
            {"image.mb": 200},
            {name: {"stormplace.cost": PRICES[name]} for name in PRICES},
            "migration is weighed but no supervisor states stormplace.pull.mb.per.sec",
        ),
        (
            {"image.mb": 200},
            {"far": LOADS},
            "migration is weighed but 1 host states no stormplace.cost (far)",
        ),
        (
            {"image.mb": 200, "replan.persistence": "none"},
            {},
            "migration is weighed but replan.persistence none leaves prices of moves out",
        ),
    ],
)
def test_a_price_that_is_not_known_is_named_and_left_out(make, settings, meta, note):
    """Response times count as ever."""
    weights = {"weights": {"response_time": 0.5, "migration": 0.5}}
    where, plan = planned(market(make, weights | settings, ("dear", "far"), **meta))
    assert len(set(where)) == 1
    assert f"; {note}; " in plan.status


@pytest.mark.parametrize(
    ("settings", "key"),
    [
        ({"budget.migration": 5}, "budget.migration"),
        ({"image.mb": 5, "budget.migration": 5}, "budget.migration"),
        ({"budget.cost.per.sec": 5}, "budget.cost.per.sec"),
    ],
)
def test_a_budget_that_cannot_be_checked_lets_nothing_move_for_a_gain(make, settings, key):
    """What is missing is placed all the same."""
    meta = {name: {} for name in PRICES}
    where, plan = planned(market(make, settings, ("dear", "far"), **meta))
    assert where == ("dear", "far")
    assert plan.status.startswith(f"kept: no moves for gains while {key} cannot be checked; ")
    assert f"; {key} is stated but " in plan.status
    missing = market(make, settings, ("dear", None), ports=(6700, -1), **meta)
    assert planned(missing)[1].decision is Decision.ASSIGN


def test_a_key_of_moves_that_cannot_be_read_lets_nothing_move_for_a_gain(make):
    """Limits that are meant and not read must not turn into none."""
    request = market(make, COST | {"replan.horizon.secs": 0})
    where, plan = planned(request)
    key = "topology.stormplace.replan.horizon.secs"
    assert where == ("dear", "dear")
    assert plan.status.startswith(f"kept: no moves for gains while {key} cannot be read; ")
    assert f"setting ignored: {key}: must be > 0 and <= 1e+09, got 0" in plan.status
    assert planned(market(make, COST | {"pin": 5}))[0] == ("cheap", "cheap")


def test_moves_cost_no_more_than_their_budget(make):
    """Loading 200 MB costs 20 at the cheap host: with less nothing moves, with as much it does."""
    settings = COST | {"image.mb": 200}
    where, plan = planned(market(make, settings | {"budget.migration": 19.9}))
    assert where == ("dear", "dear")
    assert plan.status.startswith("kept: no candidate within budget.migration is better (ils (auto)); ")
    assert planned(market(make, settings | {"budget.migration": 0}))[0] == ("dear", "dear")
    assert planned(market(make, settings | {"budget.migration": 20}))[0] == ("cheap", "cheap")


def test_a_round_has_one_budget_of_moves(make):
    """Its second look at the topology has what the first one left: one executor moves, not two."""
    settings = COST | {"state.mb": {"c0": 100, "c1": 100}, "budget.migration": 10}
    where, _ = planned(market(make, settings), min_gain=0.0)
    assert sorted(where) == ["cheap", "dear"]


def test_what_is_missing_is_placed_within_the_budget_of_cost_where_a_place_is(make):
    """Else above it, and the status says so."""
    nowhere = {"where": (None, None), "ports": -1}
    settings = {"weights": {"response_time": 1.0}, "pin": {"c0": "host:dear"}}
    assert planned(market(make, settings, **nowhere))[0] == ("dear", "dear")
    assert planned(market(make, settings | {"budget.cost.per.sec": 11}, **nowhere))[0] == ("dear", "cheap")
    where, plan = planned(market(make, settings | {"budget.cost.per.sec": 10}, **nowhere))
    assert where == ("dear", "dear")
    assert ", above budget.cost.per.sec as none was found within: " in plan.status


def test_a_host_that_is_paid_once_fits_a_budget_that_two_executors_do_not(make):
    settings = {"pin": {"c0": "host:dear"}, "budget.cost.per.sec": 10, "cost.model": "per-host"}
    where, plan = planned(market(make, settings, (None, None), ports=-1))
    assert where == ("dear", "dear")
    assert "above budget" not in plan.status


def test_fast_hosts_execute_in_less_time(make):
    """Measured where an executor runs: 40 ms at twice the speed are 80 ms elsewhere."""
    fast = {"stormplace.speedup": "2", "stormplace.executors": "1"}
    request = market(make, {}, ("cheap", "dear"), cheap=fast, dear=fast)
    request = replace(request, readings=(*request.readings, rates([40.0, 40.0])))
    _, plan = planned(request)
    assert plan.decision is Decision.KEEP
    assert plan.response_time_ms == pytest.approx(80.0 + 3.2)


def test_times_of_slow_hosts_are_halved_on_fast_ones(make):
    """The second executor takes 40 ms where it runs, and 20 ms beside the first one, 1.2 + 2 ms away."""
    fast = {"stormplace.speedup": "2", "stormplace.executors": "1"}
    request = market(make, {"pin": {"c0": "host:dear"}}, ("dear", "far"), cheap=fast, dear=fast)
    request = replace(request, readings=(*request.readings, rates([40.0, 40.0])))
    where, plan = planned(request)
    assert where == ("dear", "cheap")
    assert plan.response_time_ms == pytest.approx(40.0 + 20.0 + 3.2)


@pytest.mark.parametrize(
    ("speedup", "time_ms", "note"),
    [
        ({}, 100.0, ""),
        ({}, None, "execution times are not measured"),
        # Nothing says how fast the host was on which the lost executor was measured.
        ({"dear": {"stormplace.speedup": "2"}}, 100.0, "execution times are not measured"),
    ],
)
def test_a_limit_on_durations_counts_where_execution_times_are_measured(make, speedup, time_ms, note):
    """A tuple takes 100 ms at 8 a second: 300 ms with waiting, more than it may on any host."""
    request = market(make, {"duration.max.ms": {"c1": 100}}, ("far", None), ports=(6700, -1), **speedup)
    request = replace(request, readings=(*request.readings, rates([1.0, time_ms], rate=8.0)))
    where, plan = planned(request)
    assert where == ("far", "far")
    assert (", above duration.max.ms as none was found within" in plan.status) is (not note)
    assert f"; duration.max.ms of c1 is stated but {note}; " in plan.status or not note
