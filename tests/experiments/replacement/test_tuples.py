"""Tuples as events, against what can be worked out by hand and by the model."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.replacement.cycles import run_cycles
from experiments.replacement.load import arrivals
from experiments.replacement.simulation import Setting, let_through, scenario_of
from experiments.replacement.tuples import Moving, Pipeline, Stage, run_tuples

CHAIN = Pipeline(("a",), {"a": ("b",), "b": ()})
FORK = Pipeline(("a",), {"a": ("b", "c"), "b": ("d",), "c": ("d",)})
DELAYS = {("a", "b"): 0.1}


def stage(at_s: float = -1.0, b_s: float = 2.0, pull_s: dict[str, float] | None = None) -> Stage:
    return Stage(at_s, {"a": 1.0, "b": b_s}, DELAYS, pull_s or {})


def test_a_tuple_alone_takes_what_the_model_says() -> None:
    """On a chain and on a fork, whose slower way counts."""
    assert run_tuples(CHAIN, [stage()], np.array([5.0])).latency_s == pytest.approx([3.1])
    service = {"a": 1.0, "b": 2.0, "c": 4.0, "d": 0.5}
    delays = {("a", "b"): 0.1, ("a", "c"): 0.2, ("b", "d"): 0.3, ("c", "d"): 0.4}
    alone = run_tuples(FORK, [Stage(-1.0, service, delays, {})], np.array([0.0]))
    assert alone.latency_s == pytest.approx([1.0 + 0.2 + 4.0 + 0.4 + 0.5])


def test_tuples_wait_for_those_before_them() -> None:
    """The second operator takes 2 s for what comes each second."""
    run = run_tuples(CHAIN, [stage()], np.array([0.0, 1.0, 2.0]))
    assert run.latency_s == pytest.approx([3.1, 4.1, 5.1])


def test_scenario_p_takes_what_the_model_says() -> None:
    """Single tuples in each cycle take the response time of that cycle's placement, to all digits."""
    scenario = scenario_of("p", "equal")
    run = run_cycles(scenario)
    slow = Setting("paper", noisy=False, rate=0.001, seed=3)
    traffic = let_through(scenario, run, slow)
    assert traffic.arrived_s.size
    for at_s, latency_s in zip(traffic.arrived_s, traffic.latency_s, strict=True):
        cycle = run.cycles[int(at_s // scenario.cycle_s)]
        if at_s - cycle.at_s > 100.0 or not cycle.moves:
            assert latency_s == pytest.approx(cycle.values["response_time"] / 1000.0, abs=1e-6)


def test_a_moved_operator_keeps_what_waits() -> None:
    """The service that is under way begins anew once the operator is loaded and started."""
    moved = stage(2.0, b_s=0.5, pull_s={"b": 3.0})
    run = run_tuples(CHAIN, [stage(), moved], np.array([0.0]), Moving(start_s=5.0))
    assert run.latency_s == pytest.approx([2.0 + 3.0 + 5.0 + 0.5])
    assert run.replayed == 0


def test_what_is_lost_comes_again_after_the_timeout() -> None:
    """It goes through all operators again; one that is on its way to the operator is not lost."""
    moved = stage(2.0, pull_s={"b": 3.0})
    run = run_tuples(
        CHAIN, [stage(), moved], np.array([0.0]), Moving(start_s=5.0, loses=True, timeout_s=30.0)
    )
    assert run.latency_s == pytest.approx([2.0 + 30.0 + 3.1])
    assert run.replayed == 1
    waiting = run_tuples(CHAIN, [stage(), moved], np.array([1.95]), Moving(start_s=5.0, loses=True))
    assert waiting.latency_s == pytest.approx([10.0 + 2.0 - 1.95])
    assert waiting.replayed == 0


def test_every_tuple_is_done_once_whatever_moves() -> None:
    """Moves in the middle lose nothing for good, and both ways take the same tuples."""
    random = np.random.default_rng(0)
    entering = arrivals(0.4, "sine", 600.0, random)
    stages = [stage(), *(stage(float(at), pull_s={"a": 2.0, "b": 4.0}) for at in (100, 250, 400))]
    for loses in (False, True):
        run = run_tuples(CHAIN, stages, entering, Moving(loses=loses))
        assert np.isfinite(run.latency_s).all()
        assert (run.latency_s >= 3.1 - 1e-9).all()


@pytest.mark.parametrize("form", ["sine", "square"])
def test_arrivals_have_their_rate(form: str) -> None:
    """The mean over whole periods is as asked for, the first half of each has more."""
    found = arrivals(5.0, form, 6000.0, np.random.default_rng(2))  # type: ignore[arg-type]  # one of `Form`
    assert found.size / 6000.0 == pytest.approx(5.0, rel=0.03)
    early = (found % 600.0 < 300.0).mean()
    assert early == pytest.approx(0.75 if form == "square" else 0.659, abs=0.02)
