"""A child beside the search of `odr-search` counts by what it finds, and is ended with it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from scheduler.base.deadline import Deadline
from scheduler.contract.children import INLINE
from scheduler.evaluation.evaluate import check, evaluate
from scheduler.exact.solver.guided import Guide, guide
from scheduler.instances.generators.replacement import replacement, running
from scheduler.plan import plan
from scheduler.strategies.odr import OdrParameters
from scheduler.strategies.odr_search import OdrSearchParameters

if TYPE_CHECKING:
    from collections.abc import Callable

    from scheduler.base.arrays import IntArray
    from scheduler.model.problem import Problem


SOON, LATER = 60.0, 150.0
"""Looks at a clock after which a search has to end."""


@dataclass
class Beside:
    """A child that has done its work before its owner begins, and is asked for it at the end."""

    said: list[IntArray | Guide] = field(default_factory=list)
    unread: list[IntArray | Guide] = field(default_factory=list)
    ended: bool = False
    failure: str | None = None

    def start(self, work: Callable[..., None], order: Any, _deadline: Deadline) -> Beside:
        work(order, Deadline(_counter(), 2_000.0), self.unread.append)
        self.said = list(self.unread)
        return self

    def messages(self) -> list[IntArray | Guide]:
        unread, self.unread = self.unread, []
        return unread

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
    soon = Deadline(_counter(), SOON)
    alone = plan(problem, "odr-search", deadline=Deadline(_counter(), SOON), children=INLINE)
    found = plan(problem, "odr-search", deadline=soon, children=child)
    assert child.ended
    assert not child.unread
    assert isinstance(child.said[0], Guide), "the prices come first"
    best = min(evaluate(problem, each).objective for each in child.said[1:] if not isinstance(each, Guide))
    assert found.placement is not None
    assert found.evaluation is not None
    assert alone.evaluation is not None
    assert not check(problem, found.placement)
    assert found.evaluation.objective <= best + 1e-9
    assert best < alone.evaluation.objective, "the child had more time"


@dataclass(frozen=True, eq=False)
class Knowing(Guide):
    """Always draws the same."""

    known: IntArray

    def __call__(self, _random: np.random.Generator) -> IntArray:
        return self.known[:, None]


@dataclass
class Telling(Beside):
    """A child that finds nothing but prices, or nothing."""

    guide: Guide | None = None

    def start(self, _work: Callable[..., None], _order: Any, _deadline: Deadline) -> Beside:
        self.unread += [] if self.guide is None else [self.guide]
        return self


def test_prices_that_a_child_finds_guide_the_search_beside_it() -> None:
    problem = joint(3)
    best = plan(problem, "odr", OdrParameters(work_limit=None)).placement
    real = guide(problem, 10.0, Deadline.none())
    assert best is not None
    assert real is not None
    child = Telling(guide=Knowing(real.form, real.beam, best))
    found = plan(problem, "odr-search", deadline=Deadline(_counter(), LATER), children=child)
    without = plan(problem, "odr-search", deadline=Deadline(_counter(), LATER), children=Telling())
    assert found.evaluation is not None
    assert without.evaluation is not None
    assert found.evaluation.objective == pytest.approx(evaluate(problem, best).objective)
    assert found.evaluation.objective < without.evaluation.objective


def test_without_a_deadline_no_child_is_started() -> None:
    child = Beside()
    short = OdrSearchParameters(patience=1)
    found = plan(joint(3), "odr-search", short, children=child)
    alone = plan(joint(3), "odr-search", short)
    assert not child.said
    assert found.placement is not None
    assert alone.placement is not None
    assert (found.placement == alone.placement).all(), "answers are the same everywhere"
