"""Both layers of paper 004 in one loop: under an even load they come to rest."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from scheduler.elasticity.application_manager import granting as application
from scheduler.elasticity.application_manager.asking import ApplicationObservation, Asked
from scheduler.elasticity.infrastructure_manager import granting as infrastructure
from scheduler.elasticity.infrastructure_manager.granting import AskedHosts
from scheduler.elasticity.learning.season import Season, SeasonParameters
from scheduler.elasticity.operator_manager import model_based, rolling, threshold
from scheduler.elasticity.operator_manager.model_parameters import ModelBasedParameters, OperatorWeights
from scheduler.elasticity.operator_manager.path import Path, PathPart, ladder_of
from scheduler.elasticity.operator_manager.queue_model import least_executors, response_ms
from scheduler.elasticity.operator_manager.rolling_parameters import RollingParameters
from scheduler.elasticity.operator_manager.sample import OperatorObservation, OperatorSample
from scheduler.elasticity.region_manager import idle_pool
from scheduler.elasticity.region_manager import model_based as region_model_based
from scheduler.elasticity.region_manager.model_parameters import RegionModelParameters, RegionWeights
from scheduler.elasticity.region_manager.report import RegionObservation, RegionReport

MOST, SERVICE_RATE, BOUND_MS, PER_HOST, DISCOUNT = 6, 100.0, 40.0, 4, 0.9
HOSTS = 5


class Loop:
    """Two components in one region, at even rates; hosts are up one period after they were granted."""

    def __init__(
        self,
        rates: tuple[float, float],
        manager: Any,
        parameters: Any,
        state: Any,
        region: RegionModelParameters | None = None,
    ) -> None:
        """Take what is scaled, and by whom; hosts are a pool unless their region learns."""
        self.rates, self.manager, self.parameters = rates, manager, _of_both(parameters)
        self.region, self.region_state = region, region_model_based.RegionModelState()
        self.executors, self.states, self.changed = [1, 1], [state, state], False
        self.ready, self.booting, self.moves = 1, 0, 0
        self.application = application.ApplicationState()

    def period(self, k: int) -> None:
        """Measure, ask, grant, carry out."""
        now_s = 60.0 * (k + 1)
        asked, samples = [], {}
        for i, (rate, n) in enumerate(zip(self.rates, self.executors, strict=True)):
            busy = min(1.0, rate / n / SERVICE_RATE)
            response = min(9e9, response_ms(rate, n, SERVICE_RATE))
            samples[f"c{i}"] = OperatorSample(
                f"c{i}", now_s - 60, now_s, n, rate, (busy,) * n, response, paused=self.changed
            )
        for i, sample in enumerate(samples.values()):
            observation = OperatorObservation(now_s, sample, others=samples)
            request, self.states[i] = self.manager.decide(observation, self.states[i], self.parameters[i], 0)
            asked.append(Asked(request, "north", sample.response_ms / BOUND_MS))
        free = self.ready * PER_HOST - sum(self.executors)
        decision, self.application = application.decide(
            ApplicationObservation(now_s, tuple(asked), {"north": free}),
            self.application,
            application.ApplicationParameters(),
            0,
        )
        actions = {each.component: each.action for each in decision.grants}
        self.executors = [n + actions.get(f"c{i}", 0) for i, n in enumerate(self.executors)]
        self.changed = any(actions.values())
        self.moves += self.changed
        self._hosts(now_s, sum(decision.unmet.values()))

    def _hosts(self, now_s: float, unmet: int) -> None:
        used = -(-sum(self.executors) // PER_HOST)  # the fullest host first
        report = RegionReport(
            "north", now_s - 60, now_s, self.ready, self.booting, self.ready - used, 0.5, unmet
        )
        seen = RegionObservation(now_s, report)
        if self.region is None:
            pool = idle_pool.IdlePoolParameters(hosts_max=HOSTS)
            request, _ = idle_pool.decide(seen, idle_pool.IdlePoolState(), pool, 0)
        else:
            request, self.region_state = region_model_based.decide(seen, self.region_state, self.region, 0)
        grants, _ = infrastructure.decide(
            infrastructure.InfrastructureObservation((AskedHosts(request, report.active, 1.0),)),
            infrastructure.InfrastructureState(),
            infrastructure.InfrastructureParameters(),
            0,
        )
        action = sum(each.action for each in grants)
        self.moves += abs(action)
        self.ready, self.booting = self.ready + self.booting + min(0, action), max(0, action)


def _of_both(parameters: Any) -> tuple[Any, Any]:
    return parameters if isinstance(parameters, tuple) else (parameters, parameters)


def run(loop: Loop, periods: int, quiet: int) -> None:
    """Run, and check that neither executors nor hosts change in the last periods."""
    for k in range(periods):
        if k == periods - quiet:
            loop.moves = 0
        loop.period(k)
        assert sum(loop.executors) <= loop.ready * PER_HOST, "every executor has a place"
    assert loop.moves == 0


even = st.tuples(st.floats(1, 420), st.floats(1, 420))


@given(even, st.floats(0.5, 0.9), st.floats(0.4, 0.95))
def test_thresholds_come_to_rest(rates: tuple[float, float], out: float, factor: float) -> None:
    parameters = threshold.ThresholdParameters(executors_max=MOST, scale_out=out, scale_in_factor=factor)
    loop = Loop(rates, threshold, parameters, threshold.ThresholdState())
    run(loop, 30, 10)
    for rate, n in zip(rates, loop.executors, strict=True):
        assert n == MOST or rate / n / SERVICE_RATE <= out


weights = st.tuples(st.integers(1, 60), st.integers(1, 60), st.integers(1, 60)).map(
    lambda parts: OperatorWeights(*(each / sum(parts) for each in parts))
)


def climbing_pays(chosen: OperatorWeights, most: int = MOST, steps: int = 1) -> bool:
    """Whether going up step by step, to the most, is cheaper than being late for ever with one."""
    late_for_ever = (chosen.performance + chosen.resources / most) / (1.0 - DISCOUNT)
    climbing, executors, passed = 0.0, 1, 0
    while executors < most:
        executors = min(most, executors + steps)
        late = chosen.performance if executors < most else 0.0
        paid = chosen.reconfiguration + late + chosen.resources * executors / most
        climbing += DISCOUNT**passed * paid
        passed += 1
    climbing += DISCOUNT**passed * chosen.resources / (1.0 - DISCOUNT)
    return climbing < late_for_ever


@given(even, weights, st.booleans(), st.booleans(), st.booleans())
def test_learning_comes_to_rest_if_weights_meet_the_conditions(
    rates: tuple[float, float], chosen: OperatorWeights, kept: bool, prior: bool, guard: bool
) -> None:
    """And keeps the bound, if going up step by step is worth it; else the guard and the weights disagree."""
    unchecked = ModelBasedParameters(
        executors_max=MOST,
        rate_max=420.0,
        response_max_ms=BOUND_MS,
        levels=5,
        weights=chosen,
        discount=DISCOUNT,
        learning_rate=0.5,
        service_rate=SERVICE_RATE,
        start_from_queues=prior,
        skip_disturbed=True,
        hold_disturbed=True,
        keep_estimates=kept,
        guard=guard and climbing_pays(chosen),
        heed_conditions=False,
    )
    assume(not unchecked.conditions())
    parameters = replace(unchecked, heed_conditions=True)
    loop = Loop(rates, model_based, parameters, model_based.ModelBasedState())
    run(loop, 150, 40)
    if climbing_pays(chosen):
        for rate, n in zip(rates, loop.executors, strict=True):
            assert n >= (least_executors(rate, SERVICE_RATE, BOUND_MS, MOST) or 1)


meeting_conditions = st.tuples(st.floats(1.0, 9.0), st.floats(0.01, 0.9)).map(
    lambda parts: OperatorWeights(*(each / (1.0 + sum(parts)) for each in (*parts, 1.0)))
)
"""For eleven rungs, whatever the peak needs."""


@pytest.mark.parametrize("steps", [1, 2, 11])
@given(st.tuples(st.floats(1, 420), st.floats(0.1, 1.0)), meeting_conditions, st.booleans(), st.booleans())
def test_learning_for_a_path_comes_to_rest(
    steps: int, load: tuple[float, float], chosen: OperatorWeights, prior: bool, kept: bool
) -> None:
    """And keeps its bound, if going up is worth it, from the first rung to the last."""
    rate, per_item = load
    parts = (PathPart("c0", 1.0, SERVICE_RATE, MOST), PathPart("c1", per_item, SERVICE_RATE, MOST))
    path = Path(parts, 2 * BOUND_MS)
    rungs = len(ladder_of(path).executors)
    pays = climbing_pays(chosen, rungs, steps)
    parameters = tuple(
        ModelBasedParameters(
            executors_max=MOST,
            rate_max=420.0 * each.per_item,
            response_max_ms=BOUND_MS,
            levels=5,
            weights=chosen,
            discount=DISCOUNT,
            learning_rate=0.5,
            start_from_queues=prior,
            skip_disturbed=True,
            hold_disturbed=True,
            keep_estimates=kept,
            guard=pays,
            joint=True,
            steps=steps,
            path=path,
            component=each.component,
        )
        for each in parts
    )
    loop = Loop((rate, rate * per_item), model_based, parameters, model_based.ModelBasedState())
    run(loop, 150, 40)
    if pays:
        assert path.response_ms(loop.executors, rate) <= 2 * BOUND_MS


regions = st.tuples(st.integers(1, 60), st.integers(1, 60), st.integers(0, 60)).map(
    lambda parts: RegionWeights(*(each / sum(parts) for each in parts))
)


@given(even, st.floats(0.5, 0.9), regions)
def test_a_region_that_learns_comes_to_rest(
    rates: tuple[float, float], out: float, chosen: RegionWeights
) -> None:
    """Under components that do: it neither starts what it stops, nor the other way round."""
    parameters = threshold.ThresholdParameters(executors_max=MOST, scale_out=out, scale_in_factor=0.7)
    region = RegionModelParameters(hosts_max=HOSTS, hosts_min=1, weights=chosen, discount=DISCOUNT)
    loop = Loop(rates, threshold, parameters, threshold.ThresholdState(), region)
    run(loop, 150, 40)


KNOWING = rolling.RollingState(replace(Season.first(SeasonParameters()), noise=0.0))
"""That the load is even; learning it takes hours, in which ever fewer executors are enough."""


def looking_ahead(path: Path, chosen: OperatorWeights) -> RollingParameters:
    """Return parameters if their weights meet the conditions."""
    unchecked = RollingParameters(path=path, weights=chosen, pause_s=20.0, heed_conditions=False)
    assume(not unchecked.conditions())
    return replace(unchecked, heed_conditions=True)


@given(even, weights)
def test_looking_ahead_comes_to_rest_with_bounds_of_their_own(
    rates: tuple[float, float], chosen: OperatorWeights
) -> None:
    """And keeps them."""
    parameters = tuple(
        looking_ahead(Path((PathPart(f"c{i}", 1.0, SERVICE_RATE, MOST),), BOUND_MS), chosen) for i in range(2)
    )
    loop = Loop(rates, rolling, parameters, KNOWING)
    run(loop, 25, 15)
    for rate, n in zip(rates, loop.executors, strict=True):
        assert n >= (least_executors(rate, SERVICE_RATE, BOUND_MS, MOST) or 1)


@example(321.75, 0.60546875, OperatorWeights(1 / 3, 1 / 3, 1 / 3))
@given(st.floats(1, 420), st.floats(0.1, 1.0), weights)
def test_looking_ahead_comes_to_rest_with_a_bound_for_both(
    rate: float, per_item: float, chosen: OperatorWeights
) -> None:
    """And keeps it. In the example a variance that falls from 1e-6 would give an executor back late."""
    parts = (PathPart("c0", 1.0, SERVICE_RATE, MOST), PathPart("c1", per_item, SERVICE_RATE, MOST))
    parameters = looking_ahead(Path(parts, 2 * BOUND_MS), chosen)
    loop = Loop((rate, rate * per_item), rolling, parameters, KNOWING)
    run(loop, 25, 15)
    assert parameters.path.response_ms(loop.executors, rate) <= 2 * BOUND_MS
