"""Rows of a program besides those of capacities: what the problem's rules state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from scheduler.base.arrays import BoolArray, IntArray
    from scheduler.model.constraints.linear import LinearRows
    from scheduler.model.problem import Problem


@dataclass(frozen=True, eq=False)
class SideRows:
    """The rules of a problem as far as rows can state them; class i of its form is operator i alone.

    Attributes:
        rows: Per rule that can be stated.
        unstated: Kinds of the others: a form without them is a relaxation.
        ends: (n_streams, 2) sources and targets of the streams.
    """

    rows: tuple[LinearRows, ...]
    unstated: tuple[str, ...]
    ends: IntArray

    @staticmethod
    def of(problem: Problem) -> SideRows | None:
        """Return the rows, None if the problem has no rules."""
        if not problem.rules:
            return None
        application = problem.application
        stated = [(rule.kind, rule.rows()) for rule in problem.rules]
        return SideRows(
            rows=tuple(rows for _, rows in stated if rows is not None),
            unstated=tuple(dict.fromkeys(kind for kind, rows in stated if rows is None)),
            ends=np.column_stack([application.stream_source, application.stream_target]),
        )

    @property
    def charging(self) -> BoolArray:
        """(n_streams,) which streams charge a row by their link."""
        charging = np.zeros(len(self.ends), dtype=np.bool_)
        for rows in self.rows:
            if rows.links is not None:
                charging |= rows.links.weight > 0
        return charging
