"""Learning when to ask for hosts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.elasticity.learning.choice import greedy
from scheduler.elasticity.region_manager.model import RegionModel
from scheduler.elasticity.region_manager.model_based import RegionModelState, decide, learned
from scheduler.elasticity.region_manager.model_parameters import RegionModelParameters, RegionWeights
from scheduler.elasticity.region_manager.report import RegionObservation, RegionReport

X = np.inf
"""Not allowed."""

# rows: (k, u); for f = 0, then f = 1: costs of the actions 0, -1, +1
SWEEP_1 = [
    [(0.44167, X, 0.13333), (0.16667, X, 0.13333)],
    [(0.59167, X, 0.13333), (0.20667, X, 0.13333)],
    [(0.32083, X, 0.20000), (0.18333, 0.31667, 0.20000)],
    [(0.39583, X, 0.20000), (0.20333, 0.41667, 0.20000)],
    [(0.23750, X, X), (0.21000, 0.25833, X)],
    [(0.31250, X, X), (0.23000, 0.30833, X)],
]
SWEEP_2 = [
    [(0.56167, X, 0.30208), (0.28667, X, 0.30208)],
    [(0.71167, X, 0.30958), (0.32667, X, 0.30958)],
    [(0.49802, X, 0.39350), (0.35433, 0.43667, 0.39350)],
    [(0.57490, X, 0.40250), (0.38033, 0.53667, 0.40250)],
    [(0.45884, X, X), (0.41093, 0.43271, X)],
    [(0.56141, X, X), (0.44488, 0.48646, X)],
]
FIXED_POINT = [
    [(2.24504, X, 2.01695), (1.93602, X, 2.01695)],
    [(2.40769, X, 2.03285), (2.00076, X, 2.03285)],
    [(2.26867, X, 2.18080), (2.08408, 2.10458, 2.18080)],
    [(2.35744, X, 2.20981), (2.11941, 2.22272, 2.20981)],
    [(2.31892, X, X), (2.21763, 2.18477, X)],
    [(2.44308, X, X), (2.27202, 2.24924, X)],
]
GREEDY = [[1, 0], [1, 0], [1, 0], [1, 0], [0, -1], [0, -1]]


def parameters(**changed: Any) -> RegionModelParameters:
    """Return those of the worked example, but for what is changed."""
    given_ = {"hosts_max": 3, "hosts_min": 1, "quantum": 1.0, "discount": 0.9, "learning_rate": 0.5}
    return RegionModelParameters(**{**given_, **changed})


def example() -> RegionModel:
    """Return the model of the worked example before the first sweep."""
    unknown = np.zeros((3, 2, 2))
    unknown[:, :, 0] = [[0.4, 0.8], [0.2, 0.4], [0.0, 0.2]]
    return replace(
        RegionModel.first(parameters()),
        levels=np.array([[3.0, 1.0], [1.0, 3.0]]),
        idle=np.array([[[3.0, 1.0], [1.0, 4.0]], [[1.0, 0.0], [1.0, 1.0]], [[0.0, 1.0], [0.0, 1.0]]]),
        unknown=unknown,
    )


@pytest.mark.parametrize(
    ("sweeps", "expected"), [(1, SWEEP_1), (2, SWEEP_2), (500, FIXED_POINT)], ids=["1", "2", "fixed point"]
)
def test_paper_004_worked_example_of_region_learning(sweeps: int, expected: Any) -> None:
    worth = example().swept(parameters(), sweeps).worth
    wanted = np.array(expected).reshape(3, 2, 2, 3)
    assert (np.isinf(worth) == np.isinf(wanted)).all()
    allowed = np.isfinite(wanted)
    assert worth[allowed] == pytest.approx(wanted[allowed], abs=1e-5)


def test_paper_004_worked_example_of_greedy_region_actions() -> None:
    worth = example().swept(parameters(), 500).worth.reshape(6, 2, 3)
    assert [[greedy(worth[state, idle]) for idle in (0, 1)] for state in range(6)] == GREEDY


def report(active: int, idle: int, utilisation: float, until_s: float, unmet: int = 0) -> RegionReport:
    return RegionReport("north", until_s - 120, until_s, active, 0, idle, utilisation, unmet)


def test_what_was_unmet_is_charged_to_the_hosts_that_there_were() -> None:
    """And to fewer hosts and more load, for the same f."""
    state = RegionModelState()
    state = learned(state, report(1, 0, 0.0, 120.0), parameters())
    state = learned(state, report(2, 0, 0.0, 240.0, unmet=3), parameters())
    assert state.model is not None
    assert state.model.unknown[:, :, 0].tolist() == [[0.4, 0.4], [0.4, 0.4], [0.0, 0.0]]
    assert not state.model.unknown[:, :, 1].any()
    assert state.model.levels.tolist() == [[2, 0], [0, 1]]
    assert state.model.idle[2].tolist() == [[2, 0], [0, 1]], (
        "one more came, and none was idle before or after"
    )
    assert learned(state, report(2, 0, 0.0, 240.0, unmet=3), parameters()) is state


def test_each_f_has_estimates_of_its_own() -> None:
    model = RegionModel.first(parameters()).charged((1, 0, 0), 0.8, parameters())
    model = model.charged((2, 1, 1), 0.4, parameters())
    assert model.unknown[:, :, 0].tolist() == [[0.4, 0.4], [0.4, 0.4], [0.0, 0.0]]
    assert model.unknown[:, :, 1].tolist() == [[0.0, 0.2], [0.0, 0.2], [0.0, 0.2]]


def test_actions_beyond_the_bounds_are_closed_from_the_start() -> None:
    worth = RegionModel.first(parameters()).worth
    assert np.isinf(worth[0, :, :, 1]).all()
    assert np.isinf(worth[-1, :, :, 2]).all()
    assert np.isinf(worth[:, :, 0, 1]).all()
    assert not worth[..., 0].any()


def test_hosts_that_boot_are_active() -> None:
    """At the most no further one is asked for while one boots."""
    there = RegionReport("north", 0.0, 120.0, 2, 1, 0, 0.5, 1)
    request, state = decide(RegionObservation(120.0, there), RegionModelState(), parameters(), seed=0)
    assert state.before == (2, 0, 0)
    assert request.action == 0


def test_several_hosts_less_are_learned_as_less() -> None:
    state = learned(RegionModelState(), report(3, 1, 0.0, 120.0), parameters())
    state = learned(state, report(1, 0, 0.0, 240.0), parameters())
    assert state.model is not None
    assert state.model.idle[1].tolist() == [[1, 0], [1, 1]]


@given(st.integers(0, 10_000))
def test_estimates_stay_in_order_for_each_f(seed: int) -> None:
    random = np.random.default_rng(seed)
    chosen = parameters(hosts_max=4, hosts_min=0, quantum=0.5)
    state = RegionModelState()
    for k in range(12):
        ready = int(random.integers(5))
        idle = int(random.integers(ready + 1))
        there = report(ready, idle, float(random.random()), 120.0 * (k + 1), int(random.integers(2)))
        request, state = decide(RegionObservation(120.0 * (k + 1), there), state, chosen, seed=0)
        assert request.action >= 0 or idle > 0
        assert 0 <= ready + request.action <= 4
    assert state.model is not None
    assert (np.diff(state.model.unknown, axis=0) <= 1e-12).all()
    assert (np.diff(state.model.unknown, axis=1) >= -1e-12).all()


def test_a_price_on_starts_and_stops_keeps_hosts() -> None:
    """Without it a host goes as soon as it is idle, with it it stays."""
    states = {}
    for price in (0.0, 0.3):
        chosen = parameters(weights=RegionWeights(0.8 - price, 0.2, price))
        states[price] = RegionModelState(RegionModel.first(chosen), (2, 0, 1))
        request, _ = decide(RegionObservation(120.0, report(3, 1, 0.0, 120.0)), states[price], chosen, seed=0)
        assert (request.action, request.score < request.score_stay) == (
            (-1, True) if not price else (0, False)
        )


@pytest.mark.parametrize(
    ("observation", "why"),
    [
        (RegionObservation(0.0, None), "there is no sample"),
        (RegionObservation(999.0, report(1, 0, 0.5, 120.0)), "the sample is 879 s old, the limit is 240 s"),
        (
            RegionObservation(120.0, report(4, 0, 0.5, 120.0)),
            "4 hosts are active, but it knows of 1 to 3",
        ),
        (
            RegionObservation(120.0, report(0, 0, 0.5, 120.0)),
            "0 hosts are active, but it knows of 1 to 3",
        ),
    ],
)
def test_what_is_unknown_is_held(observation: RegionObservation, why: str) -> None:
    request, state = decide(observation, RegionModelState(), parameters(), seed=0)
    assert (request.verdict, request.why) == ("held", why)
    assert state.model is None


def test_levels_are_the_nearest_steps() -> None:
    tenths = parameters(quantum=0.1)
    assert [tenths.level_of(each) for each in (0.0, 0.04, 0.06, 0.3, 0.96, 1.0)] == [0, 0, 1, 3, 10, 10]
    assert tenths.levels == 11


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: RegionWeights(0.8, 0.3, 0.0), r"weights: expected a sum of 1, got 1\.1"),
        (lambda: parameters(hosts_max=0, hosts_min=0), "hosts_max: expected a whole number >= 1, got 0"),
        (lambda: parameters(quantum=0), "quantum: expected a number > 0 and <= 1, got 0"),
        (lambda: parameters(discount=1), "discount: expected a number < 1, got 1"),
        (lambda: parameters(learning_rate=2), "learning_rate: expected a number > 0 and <= 1, got 2"),
    ],
)
def test_bad_values(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        make()
