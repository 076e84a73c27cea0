"""Which of its own limits a topology breaks where it runs: then it has to move, whatever that gains."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scheduler.model.constraints.co_location import CoLocationRule
from scheduler.model.constraints.link_bandwidth import overfull_links
from scheduler.model.constraints.metric_budget import MetricBudget

if TYPE_CHECKING:
    from bridge.problem.task import Task
    from scheduler.base.arrays import BoolArray
    from scheduler.model.problem import Problem


def takes_too_long(task: Task, problem: Problem) -> BoolArray:
    """(n_executors,) those that take longer than they may where they run.

    Args:
        task: The topology.
        problem: With the current placement, of which every executor runs.
    """
    slow, current = problem.too_slow, problem.current
    if slow is None or current is None:
        return np.zeros(task.topology.n_executors, dtype=np.bool_)
    executors = np.arange(task.topology.n_executors)  # ends outside Storm come behind them
    return np.asarray(slow[executors, current[executors]], dtype=np.bool_)


def broken_bounds(task: Task, problem: Problem) -> str:
    """Name the limits that are broken; empty if none is.

    Args:
        task: The topology.
        problem: Its problem, with the current placement, of which every executor runs.
    """
    if problem.current is None:
        return ""
    full = [title for title, _, _ in overfull_links(problem, problem.current)]
    apart = _apart(task, problem)
    if not (task.bounds or full or apart):
        return ""
    slow = np.unique(task.component[takes_too_long(task, problem)])
    names = ", ".join(task.topology.component_names[each] for each in slow)
    dear = any(rule.kind == MetricBudget.kind and rule.broken(problem.current) for rule in problem.rules)
    broken = [
        *([f"duration.max.ms of {names}"] if names else []),
        # Staying costs nothing, so that it breaks no budget of moves.
        *(["budget.cost.per.sec"] if dear else []),
        *(f"the bandwidth of {title}" for title in full),
    ]
    exceeded = f"{' and '.join(broken)} {'are' if len(broken) > 1 else 'is'} exceeded" if broken else ""
    return " and ".join(phrase for phrase in (exceeded, apart) if phrase)


def _apart(task: Task, problem: Problem) -> str:
    """Say of which components executors run apart that are to share hosts; empty if none do."""
    current = problem.current
    if current is None or not task.settings.colocate:
        return ""
    broken = [rule for rule in problem.rules if isinstance(rule, CoLocationRule) and rule.broken(current)]
    components = sorted({int(task.component[each]) for rule in broken for each in rule.members.tolist()})
    names = [task.topology.component_names[each] for each in components]
    return f"colocate of {', '.join(names)} is not met" if names else ""
