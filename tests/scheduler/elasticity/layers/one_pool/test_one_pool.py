"""Rounds of both layers on readings: which samples are made of them, and what is remembered."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from scheduler.base.checks import ModelError
from scheduler.elasticity.layers.kinds import POLICIES
from scheduler.elasticity.layers.one_pool.one_pool import decide
from scheduler.elasticity.layers.one_pool.parameters import OnePoolParameters
from scheduler.elasticity.layers.one_pool.samples import samples_of
from scheduler.elasticity.layers.one_pool.state import OnePoolState
from scheduler.elasticity.leasing.component import Component
from scheduler.elasticity.leasing.host import Host, Offer
from scheduler.elasticity.leasing.observation import ComponentReading, Observation
from scheduler.elasticity.operator_manager.joint import of_path

if TYPE_CHECKING:
    from scheduler.elasticity.layers.observation import LayersState
    from scheduler.elasticity.operator_manager.sample import OperatorSample

A, B = (Component(f"t/{name}", 100, 1, 1, 1, 12, 12) for name in "ab")
HOSTS = (Host("h1", 8, 8, 1e9, {"t/a": 2, "t/b": 4}), Host("h2", 8, 8, 1e9))
NOW_S = 10_000.0


def parameters(operators: str = "rolling", **more: object) -> OnePoolParameters:
    stated = {"operators": operators, "response_max_ms": 400.0, "hosts_max": 4, **more}
    made = POLICIES["layers"].parameters_of((A, B), Offer(8, 8, 600.0), stated)
    assert isinstance(made, OnePoolParameters)
    return made


def seen(now_s: float = NOW_S, **of_a: Any) -> Observation:
    a = ComponentReading("t/a", (110.0,), 0.0, 1.0, 5.0, demand_per_s=10.0, service_ms=100.0)
    b = ComponentReading("t/b", (60.0,), 0.0, 1.0, 5.0, demand_per_s=20.0, service_ms=50.0)
    return Observation(now_s, HOSTS, (replace(a, **of_a), b))


def samples(observation: Observation, state: OnePoolState) -> dict[str, OperatorSample]:
    given = parameters()
    return samples_of(observation, state, given.layers(state.bases), state.bases)


@pytest.fixture
def state() -> OnePoolState:
    _, state = decide(seen(), OnePoolState(), parameters(), 0)
    return replace(state, layers=replace(state.layers, changed_s={}))


def test_a_sample_is_of_the_time_since_operators_were_asked(state: OnePoolState) -> None:
    found = samples(seen(NOW_S + 60.0), state)["t/a"]
    assert (found.from_s, found.until_s) == (NOW_S, NOW_S + 55.0)
    assert (found.executors, found.arrival_rate, found.utilisation) == (2, 10.0, (0.5, 0.5))
    assert found.response_ms == 110.0
    assert found.application_load == pytest.approx(170.0 / 400.0)
    assert not found.paused


def test_after_a_break_a_sample_is_of_one_period(state: OnePoolState) -> None:
    found = samples(seen(NOW_S + 3600.0), state)["t/a"]
    assert (found.from_s, found.until_s) == (NOW_S + 3535.0, NOW_S + 3595.0)


def test_what_waits_no_longer_than_the_bound_is_no_backlog(state: OnePoolState) -> None:
    for waiting, backlog in ((4.0, 0.0), (5.0, 5.0)):
        before = replace(state, waiting={"t/a": waiting})
        assert samples(seen(NOW_S + 60.0), before)["t/a"].backlog == backlog


def test_what_waits_at_the_source_counts_as_long_as_the_component_needs_for_it(state: OnePoolState) -> None:
    """Two executors do twenty items a second."""
    found = samples(seen(NOW_S + 60.0, waiting=40.0), state)["t/a"]
    assert found.response_ms == 2000.0 + 100.0
    assert found.application_load == pytest.approx((2000.0 + 150.0) / 400.0)


@pytest.mark.parametrize("missing", [{"demand_per_s": None}, {"service_ms": None}, {"durations_ms": ()}])
def test_what_is_missing_is_no_load_of_zero(missing: dict[str, Any], state: OnePoolState) -> None:
    found = samples(seen(NOW_S + 60.0, **missing), state)
    assert "t/a" not in found
    assert found["t/b"].application_load is None


def test_where_nothing_comes_nothing_is_late(state: OnePoolState) -> None:
    found = samples(seen(NOW_S + 60.0, demand_per_s=0.0, durations_ms=(9e6,)), state)["t/a"]
    assert (found.arrival_rate, found.response_ms) == (0.0, 100.0)


def test_a_change_of_any_component_pauses_all(state: OnePoolState) -> None:
    changed = replace(state, layers=replace(state.layers, changed_s={"t/b": NOW_S}))
    assert samples(seen(NOW_S + 60.0), changed)["t/a"].paused


def test_executors_that_wait_for_a_host_do_not_run(state: OnePoolState) -> None:
    booting = Host("lease-1", 8, 8, 1e9, {"t/a": 3}, status="booting")
    observation = replace(seen(NOW_S + 60.0), hosts=(*HOSTS, booting))
    assert samples(observation, state)["t/a"].executors == 2


def test_a_clock_that_was_set_back_holds_nothing(state: OnePoolState) -> None:
    """Times to come never were; what is usual at each time of the week stays."""
    for k in range(1, 4):
        _, state = decide(seen(NOW_S + 60.0 * k), state, parameters(), 0)
    _, after = decide(seen(NOW_S - 3600.0), state, parameters(), 0)
    learned = after.layers.operators["t/a"]
    assert getattr(learned, "until_s") == NOW_S - 3605.0  # noqa: B009 - of one manager only
    assert after.layers.asked_s == NOW_S - 3600.0


def test_old_readings_are_none() -> None:
    decision, state = decide(seen(age_s=121.0), OnePoolState(), parameters(), 0)
    why = [each.why for each in decision.reasons]
    hosts = "hosts stay while not all that runs there is measured"
    assert why == ["there is no reading of t/a", hosts]
    assert not state.bases


def test_hosts_are_asked_again_as_soon_as_all_is_measured(state: OnePoolState) -> None:
    """What is not measured is not a share of 0."""
    given = parameters(hosts="model-based")
    lacking = seen(NOW_S + 240.0, service_ms=None)
    decision, after = decide(lacking, state, given, 0)
    assert ("held", "pool") in [(each.verdict, each.about) for each in decision.reasons]
    assert after.layers.regions_asked_s == state.layers.regions_asked_s
    assert not after.layers.regions
    _, after = decide(seen(NOW_S + 255.0), after, given, 0)
    assert after.layers.regions_asked_s == NOW_S + 255.0
    assert after.layers.regions


def test_a_component_to_which_nothing_has_come_stays_as_it_is() -> None:
    nothing = ComponentReading("t/a", (), 0.0, demand_per_s=0.0)
    observation = replace(seen(), readings=(nothing, seen().readings[1]))
    decision, state = decide(observation, OnePoolState(), parameters(), 0)
    assert ("held", "t/a") in [(each.verdict, each.about) for each in decision.reasons]
    assert state.layers.operators.keys() == {"t/b"}


def test_a_topology_to_which_nothing_comes_holds_no_hosts() -> None:
    """That it needs none is known."""
    nothing = tuple(ComponentReading(each.name, (), 0.0, demand_per_s=0.0) for each in (A, B))
    observation = Observation(NOW_S, HOSTS[:1], nothing)
    decision, _ = decide(observation, OnePoolState(), parameters(), 0)
    assert decision.leases == ("lease-1",)
    assert {each.about for each in decision.reasons} == {"t/a", "t/b"}


def test_another_bound_begins_tables_anew_and_keeps_seasons() -> None:
    season = {"season": {"season_s": 86_400.0}}
    state, given = OnePoolState(), parameters("model-based", operator=season)
    for k in range(4):
        _, state = decide(seen(NOW_S + 60.0 * k), state, given, 0)
    before: Any = state.layers.operators["t/a"]
    other = parameters("model-based", operator=season, response_max_ms=500.0)
    _, state = decide(seen(NOW_S + 240.0), state, other, 0)
    after: Any = state.layers.operators["t/a"]
    assert before.model.seen.sum() == 3.0
    assert after.model.seen.sum() == 0.0
    assert len(after.season.recent) == 5
    season = {"season": {"season_s": 86_400.0, "fades_s": 60.0}}
    other = parameters("model-based", operator=season, response_max_ms=500.0)
    _, state = decide(seen(NOW_S + 300.0), state, other, 0)
    last: Any = state.layers.operators["t/a"]
    assert len(last.season.recent) == 1, "it is forecast in another way"


def test_other_weights_of_hosts_begin_their_table_anew() -> None:
    state = OnePoolState()
    for k, demand in enumerate((0.8, 0.8, 0.8, 0.7)):
        region = {"weights": {"demand": demand, "resources": round(1.0 - demand, 1)}}
        given = parameters(hosts="model-based", region=region)
        _, state = decide(seen(NOW_S + 120.0 * k), state, given, 0)
        model: Any = state.layers.regions["pool"]
        if k == 2:
            assert model.model.levels.sum() > 11 + 1
    assert model.model.levels.sum() == 11


def test_the_highest_rate_is_what_the_most_executors_can_do_unless_it_is_stated() -> None:
    _, state = decide(seen(), OnePoolState(), parameters("model-based"), 0)
    for stated, expected in ((None, (120.0, 240.0)), (50.0, (25.0, 50.0)), ({"t": 40.0}, (20.0, 40.0))):
        given = parameters("model-based", rate_max=stated)
        managers: list[Any] = [each.manager for each in given.layers(state.bases).operators]
        assert tuple(each.rate_max for each in managers) == pytest.approx(expected)
        assert managers[0].response_max_ms == pytest.approx(400.0 * 100.0 / 150.0)
        assert managers[0].guard


def test_one_model_for_all_components_of_a_topology() -> None:
    """Its table is kept from round to round, is of one highest rate, and moves all by many steps at once."""
    operator = {"joint": True, "steps": 9, "season": {"season_s": 86_400.0}, "discount": 0.995}
    given, state = parameters("model-based", operator=operator), OnePoolState()
    for k in range(4):
        a, b = seen(demand_per_s=40.0).readings
        observation = Observation(NOW_S + 60.0 * k, HOSTS, (a, replace(b, demand_per_s=90.0)))
        decision, state = decide(observation, replace(state, layers=calm(state)), given, 0)
    managers: list[Any] = [each.manager for each in given.layers(state.bases).operators]
    assert [each.path_rate_max for each in managers] == [240.0, 240.0]
    assert len({of_path(each, each.path) for each in managers}) == 1
    learned: list[Any] = [state.layers.operators[name] for name in ("t/a", "t/b")]
    assert learned[0] is learned[1]
    assert learned[0].model.seen.sum() == 3.0
    started = Counter(each.component for each in decision.starts)
    assert started["t/a"] > 1
    assert started["t/b"] > 1
    # what is usual is of the rate into the path, not of a component's own
    alone = parameters("model-based", operator={**operator, "joint": False})
    _, state = decide(replace(observation, now_s=NOW_S + 240.0), state, alone, 0)
    after: Any = state.layers.operators["t/b"]
    assert len(after.season.recent) == 1


def calm(state: OnePoolState) -> LayersState:
    """Return what is remembered, as if nothing had changed."""
    return replace(state.layers, changed_s={})


def test_what_the_application_manager_may_spend() -> None:
    """The first round has spent the one change of the hour."""
    busy = seen(NOW_S + 60.0, demand_per_s=30.0, in_service=2.0)
    bucket = {"per_hour": 1.0, "most": 1.0}
    rounds = []
    for application in ({}, {"order": "gain", "reconfigurations": bucket}):
        given = parameters("threshold", pause_s=20.0, application=application)
        first, state = decide(seen(), OnePoolState(), given, 0)
        assert first.stops
        state = replace(state, layers=replace(state.layers, changed_s={}))
        rounds.append(decide(busy, state, given, 0)[0])
    free, held = rounds
    assert free.starts
    assert not held.starts
    assert {each.verdict for each in held.reasons if each.about == "t/a"} == {"limited"}


def test_a_bucket_that_holds_no_change_is_refused() -> None:
    message = r"^application\.reconfigurations\.most: expected a number >= 1, got 0\.5$"
    with pytest.raises(ModelError, match=message):
        parameters(application={"reconfigurations": {"per_hour": 1.0, "most": 0.5}})


def test_components_at_their_bound_are_named() -> None:
    """Twelve tasks are dealt to twelve executors at most."""
    hosts = (replace(HOSTS[0], executors={"t/a": 12, "t/b": 4}), HOSTS[1])
    given = parameters("threshold")
    observation = replace(seen(demand_per_s=130.0, in_service=12.0), hosts=hosts)
    _, state = decide(observation, OnePoolState(), given, 0)
    state = replace(state, layers=replace(state.layers, changed_s={}))
    decision, _ = decide(replace(observation, now_s=NOW_S + 60.0), state, given, 0)
    assert "limited" in {each.verdict for each in decision.reasons if each.about == "t/a"}
