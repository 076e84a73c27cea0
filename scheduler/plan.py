"""Planning: one pure function from problem, strategy, seed and deadline to a checked result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from scheduler.base.arrays import frozen
from scheduler.base.deadline import NO_DEADLINE, Deadline
from scheduler.contract.children import INLINE, Children
from scheduler.contract.result import Result
from scheduler.contract.strategy import Context, Report, ignore
from scheduler.evaluation.evaluate import check, evaluate
from scheduler.reduce.reduction import is_large, solve_on_candidates
from scheduler.registry import STRATEGIES

if TYPE_CHECKING:
    from scheduler.contract.strategy import StrategyEntry
    from scheduler.model.problem import Problem

DEFAULT_STRATEGY = "local-search"


class UnknownStrategyError(ValueError):
    """A strategy's name that the registry does not list; the message lists those it does."""


class StrategyError(RuntimeError):
    """A strategy broke its own contract: its placement violates constraints."""


def plan(
    problem: Problem,
    strategy: str = DEFAULT_STRATEGY,
    parameters: object | None = None,
    seed: int = 0,
    deadline: Deadline = NO_DEADLINE,
    *,
    children: Children = INLINE,
    report: Report = ignore,
) -> Result:
    """Return the placement that a strategy finds, checked and evaluated.

    The same arguments give the same result as long as the deadline does not expire on the way.

    Args:
        problem: What to place.
        strategy: A name of `scheduler.registry.STRATEGIES`.
        parameters: An instance of the strategy's parameter class; None means its defaults.
        seed: Seed of the random generator (>= 0).
        deadline: When to stop with the best placement so far.
        children: Runs solvers, such as in processes that can be killed; here and now if not given.
        report: Receives progress.

    Raises:
        UnknownStrategyError: No strategy has that name.
        TypeError: The parameters are those of another strategy.
        StrategyError: The strategy returned an infeasible placement.
    """
    if strategy not in STRATEGIES:
        raise UnknownStrategyError(
            f"unknown strategy {strategy!r}; the strategies are {', '.join(STRATEGIES)}"
        )
    entry = STRATEGIES[strategy]
    chosen = entry.parameters() if parameters is None else parameters
    if not isinstance(chosen, entry.parameters):
        raise TypeError(f"strategy {strategy} takes {entry.parameters.__name__}, got {type(chosen).__name__}")
    missing = _missing(problem, entry)
    if missing is not None:
        return Result(None, None, None, "infeasible", missing, strategy, seed)
    context = Context(np.random.default_rng(seed), deadline, children, report)
    if entry.scales or not is_large(problem):
        suggestion = entry.solve(problem, chosen, context)
    else:
        suggestion = solve_on_candidates(problem, entry, chosen, context)
    if suggestion.placement is None:
        reason, by, added = suggestion.reason, suggestion.by, suggestion.added
        return Result(None, None, None, "infeasible", reason, strategy, seed, by, added)
    placement = frozen(suggestion.placement.copy())
    violations = [each for each in check(problem, placement) if each.kind not in entry.ignores]
    if violations:
        raise StrategyError(f"strategy {strategy}: {violations[0].message}")
    return Result(
        placement=placement,
        evaluation=evaluate(problem, placement),
        bound=suggestion.bound,
        status="optimal" if suggestion.proved else "feasible",
        reason=suggestion.reason,
        strategy=strategy,
        seed=seed,
        by=suggestion.by,
        added=suggestion.added,
    )


def _missing(problem: Problem, entry: StrategyEntry[Any]) -> str | None:
    """Return a sentence on what the strategy needs and the problem does not have, with its place."""
    network = problem.network
    if "links" in entry.needs and network.underlay is None:
        return f"network.links is missing: {entry.name} looks at the links between nodes"
    if "tiers" in entry.needs:
        for u, node in enumerate(network.nodes):
            if node.tier is None:
                where = f"network.nodes[{u}].tier is missing ({node.name})"
                return f"{where}: {entry.name} looks at the tiers of nodes"
    if "cloud" in entry.needs and all(node.tier != "cloud" for node in network.nodes):
        return f"network.nodes: none is of the tier cloud, where {entry.name} places operators"
    return None
