"""The decision core: where the operators of an application run. Pure: no I/O, clock or environment.

The names below are public; each loads its module when it is first asked for, so that a command which needs
none of them starts at once. Instance files and generators are in `scheduler.instances`.

"Paper 000" in this package is M. Nardelli, V. Cardellini, V. Grassi, F. Lo Presti, "Efficient Operator
Placement for Distributed Data Stream Processing Applications", IEEE TPDS 30(8), 2019; ODP is its problem.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scheduler.base.checks import ModelError
    from scheduler.base.deadline import NO_DEADLINE, Deadline
    from scheduler.contract.result import Result
    from scheduler.contract.strategy import Context, NoParameters, Progress, StrategyEntry, Suggestion
    from scheduler.evaluation.evaluate import Evaluation, check, evaluate
    from scheduler.model.problem import (
        ELSEWHERE,
        UNPLACED,
        Application,
        CoLocationLimit,
        Network,
        Node,
        Objective,
        Operator,
        Problem,
        Stream,
    )
    from scheduler.registry import STRATEGIES

__all__ = [
    "ELSEWHERE",
    "NO_DEADLINE",
    "STRATEGIES",
    "UNPLACED",
    "Application",
    "CoLocationLimit",
    "Context",
    "Deadline",
    "Evaluation",
    "ModelError",
    "Network",
    "NoParameters",
    "Node",
    "Objective",
    "Operator",
    "Problem",
    "Progress",
    "Result",
    "StrategyEntry",
    "Stream",
    "Suggestion",
    "check",
    "evaluate",
]

_NAMES = {
    "scheduler.base.checks": ("ModelError",),
    "scheduler.base.deadline": ("NO_DEADLINE", "Deadline"),
    "scheduler.contract.result": ("Result",),
    "scheduler.contract.strategy": ("Context", "NoParameters", "Progress", "StrategyEntry", "Suggestion"),
    "scheduler.evaluation.evaluate": ("Evaluation", "check", "evaluate"),
    "scheduler.model.problem": (
        "ELSEWHERE",
        "UNPLACED",
        "Application",
        "CoLocationLimit",
        "Network",
        "Node",
        "Objective",
        "Operator",
        "Problem",
        "Stream",
    ),
    "scheduler.registry": ("STRATEGIES",),
}


def __getattr__(name: str) -> object:
    """Return a public name, from the module that defines it."""
    for module, names in _NAMES.items():
        if name in names:
            return getattr(import_module(module), name)
    raise AttributeError(f"module {__name__} has no attribute {name}")
