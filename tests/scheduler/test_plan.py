from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np
import pytest

from scheduler import plan as plan_module
from scheduler.contract.strategy import Suggestion
from scheduler.plan import DEFAULT_STRATEGY, StrategyError, UnknownStrategyError, plan
from scheduler.registry import STRATEGIES
from scheduler.strategies.local_search import LocalSearchParameters

if TYPE_CHECKING:
    from scheduler.model.problem import Problem


def test_an_unknown_strategy_is_refused_with_the_names(chain: Problem) -> None:
    """The message lists what there is."""
    with pytest.raises(
        UnknownStrategyError, match="unknown strategy 'tabu'; the strategies are auto, greedy, "
    ):
        plan(chain, "tabu")


def test_parameters_of_another_strategy_are_refused(chain: Problem) -> None:
    """Parameters belong to one strategy."""
    with pytest.raises(TypeError, match="strategy greedy takes NoParameters, got LocalSearchParameters"):
        plan(chain, "greedy", LocalSearchParameters())


def test_the_default_strategy_is_registered(chain: Problem) -> None:
    """Planning without a name works."""
    assert plan(chain).strategy == DEFAULT_STRATEGY


def test_entries_are_listed_under_their_own_names() -> None:
    """Names are unique and parameters constructible without arguments."""
    assert [entry.name for entry in STRATEGIES.values()] == list(STRATEGIES)
    assert all(dataclasses.is_dataclass(entry.parameters()) for entry in STRATEGIES.values())


def test_a_placement_that_breaks_constraints_is_never_returned(
    chain: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A faulty strategy is stopped by the check after it."""
    faulty = dataclasses.replace(STRATEGIES["even"], solve=lambda *_: Suggestion(np.array([0, 0, 0]), "done"))
    monkeypatch.setattr(plan_module, "STRATEGIES", {"even": faulty})
    with pytest.raises(StrategyError, match="strategy even: node x has 2 slots, 3 are demanded"):
        plan(chain, "even")


def test_a_result_cannot_be_changed(chain: Problem) -> None:
    """The placement of a result is read-only."""
    placement = plan(chain).placement

    assert placement is not None
    with pytest.raises(ValueError, match="read-only"):
        placement[0] = 1
