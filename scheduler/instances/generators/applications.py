"""The three applications of paper 000 (section 7.1, Figure 4): sequential, diamond, replicated."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise, product
from typing import TYPE_CHECKING

from scheduler.base.checks import ModelError, at_least
from scheduler.model.application import Application, Operator, Stream

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True)
class OperatorTraits:
    """What all operators and streams of an application have in common (paper 000, Table 1).

    Attributes:
        execution_time_ms: R_i.
        demand: C_i by resource name.
        rate: lambda_(i,j), tuples per second.
        tuple_bytes: Bytes per tuple; 1 KB follows from the paper's normalisation factors.
    """

    execution_time_ms: float = 3.0
    demand: Mapping[str, float] = field(default_factory=lambda: {"slots": 1.0})
    rate: float = 100.0
    tuple_bytes: float = 1000.0


PAPER_OPERATORS = OperatorTraits()
MOST_PAIRS = 1_000_000
"""Pairs of operators of neighbouring layers in a generated application; each may become a stream."""


def sequential(
    operators: int, home: str | None = None, traits: OperatorTraits = PAPER_OPERATORS
) -> Application:
    """Return a chain of operators, at least 2; other arguments as of `layers`.

    Raises:
        ModelError: Too few operators.
    """
    return layers([1] * at_least("operators", 2, operators), home, traits)


def diamond(operators: int, home: str | None = None, traits: OperatorTraits = PAPER_OPERATORS) -> Application:
    """Return a source, `operators` - 2 operators in parallel, and a sink; other arguments as of `layers`.

    Raises:
        ModelError: Too few operators.
    """
    return layers([1, at_least("operators", 3, operators) - 2, 1], home, traits)


def replicated(
    operators: int, home: str | None = None, traits: OperatorTraits = PAPER_OPERATORS
) -> Application:
    """Return layers of 1, 2 l, l and 1 operators, each joined with all of the next layer.

    Args:
        operators: 3 l + 2 with l >= 1; the paper has 20, so l = 6.
        home: As of `layers`, like `traits`.
        traits: See `home`.

    Raises:
        ModelError: The number of operators is not 3 l + 2.
    """
    branches, rest = divmod(operators - 2, 3)
    if rest or branches < 1:
        raise ModelError("operators", f"expected 3 l + 2 of them (5, 8, 11, ..., 20, ...), got {operators}")
    return layers([1, 2 * branches, branches, 1], home, traits)


def layers(
    sizes: Sequence[int], home: str | None = None, traits: OperatorTraits = PAPER_OPERATORS
) -> Application:
    """Return an application of layers, each operator with a stream to every operator of the next layer.

    Args:
        sizes: Operators in each layer, each at least 1.
        home: Node to which the first and the last layer are pinned; None leaves them free.
        traits: Execution time, demand, rate and tuple size.

    Raises:
        ModelError: That gives more than a million streams.
    """
    refuse_too_many_pairs(sizes)
    names: list[list[str]] = []
    for size in sizes:
        first = sum(map(len, names)) + 1
        names.append([f"operator-{first + k}" for k in range(size)])
    ends = {*names[0], *names[-1]}
    operators = tuple(
        Operator(
            name,
            traits.execution_time_ms,
            traits.demand,
            allowed=(home,) if home is not None and name in ends else None,
        )
        for layer in names
        for name in layer
    )
    streams = tuple(
        Stream(source, target, traits.rate, traits.tuple_bytes)
        for here, after in pairwise(names)
        for source, target in product(here, after)
    )
    return Application(operators, streams)


def refuse_too_many_pairs(sizes: Sequence[int]) -> None:
    """Refuse layers whose streams would take gigabytes.

    Raises:
        ModelError: There are more than `MOST_PAIRS` pairs of operators of neighbouring layers.
    """
    count = sum(here * after for here, after in pairwise(sizes))
    if count > MOST_PAIRS:
        raise ModelError(
            "operators", f"expected fewer: {count} pairs of neighbouring layers, at most {MOST_PAIRS}"
        )
