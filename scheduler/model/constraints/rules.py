"""The rules of a problem, asked together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scheduler.base.arrays import BoolArray, IntArray
    from scheduler.model.constraints.constraint import Rule


@dataclass(frozen=True, eq=False)
class Rules:
    """Rules that hold together; without any, it is false and nothing asks it.

    Attributes:
        rules: In the order in which they were stated.
    """

    rules: tuple[Rule, ...] = ()

    def __len__(self) -> int:
        """Return the number of rules."""
        return len(self.rules)

    def __iter__(self) -> Iterator[Rule]:
        """Iterate over the rules."""
        return iter(self.rules)

    @property
    def kinds(self) -> list[str]:
        """The kinds, each once, in order."""
        return list(dict.fromkeys(rule.kind for rule in self.rules))

    @property
    def together(self) -> list[IntArray]:
        """Sets of operators that can only move together."""
        return [members for rule in self.rules for members in rule.together()]

    def met(self, placements: IntArray) -> BoolArray:
        """Return (n_placements,) whether each placement (n_ops, n_placements) meets all rules.

        See `Rule.met` for placements under construction.
        """
        met = np.ones(placements.shape[1], dtype=np.bool_)
        for rule in self.rules:
            open_columns = np.flatnonzero(met)
            met[open_columns] = rule.met(placements[:, open_columns])
        return met

    def met_after(self, placement: IntArray, operators: IntArray, nodes: IntArray) -> BoolArray:
        """Return (n_moves,) whether a placement (n_ops,) meets all rules after each of some moves.

        See `Rule.met_after`.
        """
        met = np.ones(len(nodes), dtype=np.bool_)
        for rule in self.rules:
            still = np.flatnonzero(met)
            met[still] = rule.met_after(placement, operators[still], nodes[still])
        return met
