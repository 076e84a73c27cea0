"""What a strategy is: a callable from problem to suggestion, with metadata."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, Protocol, TypeAlias, TypeVar

from scheduler.contract.additions import NOTHING_ADDED, Additions
from scheduler.contract.children import INLINE, Children

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from scheduler.base.arrays import IntArray
    from scheduler.base.deadline import Deadline
    from scheduler.model.problem import Problem


class _Dataclass(Protocol):
    __dataclass_fields__: ClassVar[dict[str, Any]]


Parameters = TypeVar("Parameters", bound=_Dataclass)
Parameters_contra = TypeVar("Parameters_contra", contravariant=True)


@dataclass(frozen=True)
class NoParameters:
    """For strategies that have none."""


@dataclass(frozen=True)
class Progress:
    """How far a search has come.

    Attributes:
        objective: F of the best placement so far.
        bound: Proved lower limit of F, if known.
        source: Who found what is new, such as ``ils`` or the name of a solver.
        placement: (n_ops,) the best placement so far, if it goes with the news: who listens may have to do
            without the searcher from any moment on.
    """

    objective: float
    bound: float | None
    source: str
    placement: IntArray | None = field(default=None, compare=False)


Need: TypeAlias = Literal["links", "tiers", "cloud"]
"""The links that nodes are joined by; a tier of every node; a node of the tier cloud."""

Report: TypeAlias = "Callable[[Progress], None]"
"""Receives progress; called whenever the best placement or the bound gets better."""


def ignore(_progress: Progress, /) -> None:
    """Take no notice."""


@dataclass(frozen=True)
class Context:
    """What a strategy may use besides the problem.

    Attributes:
        random: Seeded generator, the only source of chance.
        deadline: When to stop.
        children: Runs work that may have to be killed, such as a solver's.
        report: Receives progress.
    """

    random: np.random.Generator
    deadline: Deadline
    children: Children = INLINE
    report: Report = ignore


@dataclass(frozen=True, eq=False)
class Suggestion:
    """What a strategy found.

    Attributes:
        placement: (n_ops,) node of each operator, or None if none was found.
        reason: Why the search ended as it did, in one sentence.
        bound: Proved lower limit of F, if known.
        proved: Whether the placement is proved optimal or, without a placement, that none exists.
        by: Name of the strategy that found it, if another one chose it.
        added: Constraints under which it was looked for, beside those of the problem.
    """

    placement: IntArray | None
    reason: str
    bound: float | None = None
    proved: bool = False
    by: str | None = None
    added: Additions = NOTHING_ADDED


class Strategy(Protocol[Parameters_contra]):
    """A named way to place: pure, deterministic for a seed, never raises on a valid problem.

    A deadline that has expired from the start still gets a feasible placement if one is found at all.
    """

    def __call__(self, problem: Problem, parameters: Parameters_contra, context: Context, /) -> Suggestion:
        """Return a placement of the problem."""


@dataclass(frozen=True)
class StrategyEntry(Generic[Parameters]):
    """A strategy as the registry lists it.

    Attributes:
        name: As in commands and topology settings.
        solve: The strategy.
        parameters: Its frozen parameter dataclass, constructible without arguments.
        summary: What it does, in one line.
        exact: Whether it proves optimality if given time.
        anytime: Whether more time may give a better placement and the deadline ends it early.
        never_worse_than_greedy: Whether F never exceeds that of `greedy`.
        scales: Whether it takes problems of any size; others get candidate nodes of large networks only
            (`scheduler.reduce.reduction`).
        limits: Names of the parameters that end an anytime strategy by the work done; None switches each
            off, and the strategy then uses all time up to its deadline.
        ends_with_proof: Whether it ends by itself then too, when the placement is proved optimal.
        needs: What a problem has to have, or the strategy says what is missing.
        ignores: Kinds of constraints that it does not look at: what it finds is stated with what it breaks.
        starts_at_current: Whether it starts from `Problem.current` with the given parameters.
    """

    name: str
    solve: Strategy[Parameters]
    parameters: type[Parameters]
    summary: str
    exact: bool = False
    anytime: bool = False
    never_worse_than_greedy: bool = False
    scales: bool = False
    limits: tuple[str, ...] = ()
    ends_with_proof: bool = False
    needs: tuple[Need, ...] = ()
    ignores: tuple[str, ...] = ()
    starts_at_current: Callable[[Parameters], bool] = lambda _parameters: False

    def until_deadline(self, parameters: Parameters) -> Parameters:
        """Return the parameters without limits of work: with these only the deadline ends the strategy."""
        return replace(parameters, **dict.fromkeys(self.limits))
