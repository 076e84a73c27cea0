"""What a constraint is: a record that states it by names, and a rule that all methods ask."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scheduler.base.arrays import BoolArray, FloatArray, IntArray
    from scheduler.model.application import Application
    from scheduler.model.constraints.linear import LinearRows
    from scheduler.model.network import Network
    from scheduler.model.problem import Problem

BLOCK = 1 << 21
"""Nodes of operators that one step looks at; it bounds the memory of a step to about 50 MB."""


@dataclass(frozen=True, eq=False)
class Resource:
    """A resource that a constraint amounts to.

    Attributes:
        name: As messages have it.
        demand: (n_ops,) what each operator demands (>= 0).
        capacity: What every node has (>= 0).
    """

    name: str
    demand: FloatArray
    capacity: float


@dataclass(frozen=True)
class Constraint(ABC):
    """A constraint as its user states it; subclasses are frozen dataclasses of names and numbers.

    A kind overrides `resource` if it amounts to a resource of nodes, which all methods know, else `rule`.

    Attributes:
        kind: Name of the kind, as in places of errors and in violations.
    """

    kind: ClassVar[str]

    def resource(self, application: Application, where: str) -> Resource | None:  # noqa: ARG002  # a default
        """Return the resource that this amounts to, or None.

        Raises:
            ModelError: A name is unknown; `where` is the place of this constraint.
        """
        return None

    def rule(self, problem: Problem, where: str) -> Rule | None:  # noqa: ARG002  # a default
        """Return the rule for a problem, or None if `resource` says all.

        Raises:
            ModelError: A name is unknown, or a value is missing; `where` is the place of this constraint.
        """
        return None

    def within(self, network: Network) -> Self | None:  # noqa: ARG002  # a default
        """Return what remains of this on a part of the network, or None if nothing does.

        A constraint that names nodes or sites overrides it, as its `rule` refuses unknown names.
        """
        return self


class Rule(ABC):
    """A constraint of one problem, as construction, moves, checks, proofs and the solver ask it.

    Attributes:
        kind: That of its record.
    """

    kind: str

    @abstractmethod
    def met(self, placements: IntArray) -> BoolArray:
        """Return (n_placements,) whether each placement (n_ops, n_placements) meets the constraint.

        Operators may be `UNPLACED`: then False says that no placement of the others meets it; True says
        nothing, but the more often it is False where it may be, the sooner construction ends.
        """

    def met_after(self, placement: IntArray, operators: IntArray, nodes: IntArray) -> BoolArray:
        """Return (n_moves,) whether a placement (n_ops,) meets the constraint after each of some moves.

        What `met` says of the placements after them, unless a kind has a faster way. It may say no where
        `met` says yes by rounding only.

        Args:
            placement: Before; operators may be `UNPLACED`.
            operators: (n_moves,) which moves.
            nodes: (n_moves,) where it goes.
        """
        step = max(1, BLOCK // len(placement))
        met = np.ones(len(nodes), dtype=np.bool_)
        for k in range(0, len(nodes), step):
            there = nodes[k : k + step]
            moved = np.repeat(placement[:, None], len(there), axis=1)
            moved[operators[k : k + step], np.arange(len(there))] = there
            met[k : k + step] = self.met(moved)
        return met

    @abstractmethod
    def broken(self, placement: IntArray) -> tuple[str, ...]:
        """Return a sentence with names and amounts for each way in which a placement (n_ops,) breaks it."""

    def together(self) -> tuple[IntArray, ...]:
        """Return sets of operators that can only move together, each ascending; none as a rule."""
        return ()

    def conflict(self) -> str | None:
        """Return why no placement meets it, or None if that is not proved."""
        return None

    def rows(self) -> LinearRows | None:
        """Return the constraint as rows of an integer program, or None if it cannot be stated as such.

        The solver then works without it: its bound holds, but it may end without a proof.
        """
        return None


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
