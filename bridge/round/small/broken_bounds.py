"""Which of its own limits a topology breaks where it runs: then it has to move, whatever that gains."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

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
    if not (task.bounds or full):
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
    return f"{' and '.join(broken)} {'are' if len(broken) > 1 else 'is'} exceeded" if broken else ""
