"""Random layered applications: a source, layers of operators with random streams, a sink."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from scheduler.base.checks import ModelError, at_least
from scheduler.instances.generators.applications import refuse_too_many_pairs
from scheduler.model.application import Application, Operator, Stream

if TYPE_CHECKING:
    import numpy as np

Span = tuple[float, float]


@dataclass(frozen=True)
class LayeredTraits:
    """Ranges from which the values of a random application are drawn uniformly.

    Attributes:
        density: Probability of a stream between two operators of neighbouring layers, beside those that
            give every operator a predecessor and a successor.
        execution_time_ms: R_i.
        rate: lambda_(i,j), tuples per second.
        tuple_bytes: Bytes per tuple.
    """

    density: float = 0.3
    execution_time_ms: Span = (1.0, 5.0)
    rate: Span = (10.0, 200.0)
    tuple_bytes: Span = (100.0, 2000.0)

    def __post_init__(self) -> None:
        if not 0.0 <= self.density <= 1.0:
            raise ModelError("density", f"expected a number from 0 to 1, got {self.density:g}")
        for name in ("execution_time_ms", "rate", "tuple_bytes"):
            low, high = getattr(self, name)
            if not 0.0 <= low <= high:
                raise ModelError(name, f"expected 0 <= min <= max, got {low:g} and {high:g}")


LAYERED = LayeredTraits()


def layered(
    operators: int,
    layers: int,
    random: np.random.Generator,
    home: str | None = None,
    traits: LayeredTraits = LAYERED,
) -> Application:
    """Return a random application; every operator lies on a path from the source to the sink.

    Args:
        operators: How many, source and sink included (at least `layers` + 2).
        layers: Layers between source and sink (at least 1), their sizes random.
        random: Source of chance.
        home: Node to which source and sink are pinned; None leaves them free.
        traits: Ranges of the values.

    Raises:
        ModelError: Too few layers or operators, or so many that there may be a million streams.
    """
    at_least("layers", 1, layers)
    if operators < layers + 2:
        raise ModelError("operators", f"expected at least layers + 2 = {layers + 2}, got {operators}")
    cuts = random.permutation(operators - 3)[: layers - 1].tolist()
    # operators 1 ... n - 2 in a row, cut at distinct places, so that no layer is empty
    bounds = [0, 1, *sorted(cut + 2 for cut in cuts), operators - 1, operators]
    levels = [range(start, end) for start, end in pairwise(bounds)]
    refuse_too_many_pairs([len(level) for level in levels])
    pairs = [
        pair for here, after in pairwise(levels) for pair in _joined(here, after, traits.density, random)
    ]
    made = tuple(
        Operator(
            f"operator-{k + 1}",
            float(random.uniform(*traits.execution_time_ms)),
            allowed=(home,) if home is not None and k in (0, operators - 1) else None,
        )
        for k in range(operators)
    )
    streams = tuple(
        Stream(
            made[i].name,
            made[j].name,
            float(random.uniform(*traits.rate)),
            float(random.uniform(*traits.tuple_bytes)),
        )
        for i, j in pairs
    )
    return Application(made, streams)


def _joined(here: range, after: range, density: float, random: np.random.Generator) -> list[tuple[int, int]]:
    """Return the streams between two layers, sorted: no operator is left without a partner."""
    chosen = {(i, int(random.choice(after))) for i in here}
    chosen |= {(int(random.choice(here)), j) for j in after}
    lucky = random.random((len(here), len(after))) < density
    chosen |= {(i, j) for i in here for j in after if lucky[i - here.start, j - after.start]}
    return sorted(chosen)
