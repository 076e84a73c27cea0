"""A child beside the search of `odr-search` counts by what it finds, and is ended with it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from scheduler.base.deadline import Deadline
from scheduler.contract.children import INLINE
from scheduler.evaluation.evaluate import check, evaluate
from scheduler.instances.generators.replacement import replacement, running
from scheduler.plan import plan
from scheduler.strategies.odr_search import OdrSearchParameters

if TYPE_CHECKING:
    from collections.abc import Callable

    from scheduler.base.arrays import IntArray
    from scheduler.model.problem import Problem


@dataclass
class Beside:
    """A child that has done its work before its owner begins, and is asked for it at the end."""

    said: list[IntArray] = field(default_factory=list)
    ended: bool = False
    failure: str | None = None

    def start(self, work: Callable[..., None], order: Any, _deadline: Deadline) -> Beside:
        work(order, Deadline(_counter(), 2_000.0), self.said.append)
        return self

    def messages(self) -> list[IntArray]:
        assert self.ended, "what comes later would be lost"
        return self.said

    def wait(self, _seconds: float) -> bool:
        return True

    def stop(self) -> None:
        self.ended = True


def _counter() -> Callable[[], float]:
    """Return a clock that goes on by one whenever it is read."""
    now = iter(range(1 << 40))
    return lambda: float(next(now))


def joint(seed: int) -> Problem:
    """Return three topologies that run where `even` put them."""
    problem = replacement(("chain", "tree", "dag"), 8, 10, np.random.default_rng(seed), "per-node")
    return running(problem, plan(problem, "even", seed=seed).placement)


def test_what_a_child_finds_counts() -> None:
    problem, child = joint(3), Beside()
    soon = Deadline(_counter(), 60.0)
    alone = plan(problem, "odr-search", deadline=Deadline(_counter(), 60.0), children=INLINE)
    found = plan(problem, "odr-search", deadline=soon, children=child)
    assert child.said
    best = min(evaluate(problem, each).objective for each in child.said)
    assert found.placement is not None
    assert found.evaluation is not None
    assert alone.evaluation is not None
    assert not check(problem, found.placement)
    assert found.evaluation.objective <= best + 1e-9
    assert best < alone.evaluation.objective, "the child had more time"


def test_without_a_deadline_no_child_is_started() -> None:
    child = Beside()
    short = OdrSearchParameters(patience=1)
    found = plan(joint(3), "odr-search", short, children=child)
    alone = plan(joint(3), "odr-search", short)
    assert not child.said
    assert found.placement is not None
    assert alone.placement is not None
    assert (found.placement == alone.placement).all(), "answers are the same everywhere"
