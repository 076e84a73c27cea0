"""Algorithm 3 of paper 003: may a component lose an executor?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scheduler.base.checks import number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scheduler.elasticity.leasing.component import Component

KEEP = -1.0
"""Score of a component that is at its least number of executors, or of which too little is known."""


@dataclass(frozen=True)
class RemovalWeights:
    """What speaks for and against taking an executor away.

    Attributes:
        executors: W1, of having more executors than other components (>= 0).
        queue: W2, of an empty queue (>= 0).
        delay: W3, of the last duration over what is agreed (>= 0).
        scalings: W4, of the share in all scalings so far (>= 0).
        queue_bonus: QL, of an empty queue before its weight (>= 0). With the paper's 100 it outweighs all
            else.
    """

    executors: float = 1.0
    queue: float = 1.0
    delay: float = 1.0
    scalings: float = 1.0
    queue_bonus: float = 100.0

    def __post_init__(self) -> None:
        for name in ("executors", "queue", "delay", "scalings", "queue_bonus"):
            number(name, getattr(self, name))


def removal_score(
    component: Component,
    executors: Mapping[str, int],
    scalings: Mapping[str, int],
    delay: float,
    *,
    empty_queue: bool,
    weights: RemovalWeights,
) -> float:
    """Return the score of a component, higher is better; only what is above 0 may lose an executor.

    1 + W1 (o_# - min o_#) / (max o_# - min o_#) + W2 QL [o_queue < 1] - W3 delay - W4 o_s / sum o_s, with
    min and max over all components. Where all have as many executors, or none has been scaled, the term is
    0; the paper divides by zero there.

    Args:
        component: o.
        executors: o_# of all components.
        scalings: o_s of all components.
        delay: o_d / o_slo (1 + P).
        empty_queue: Whether the queue is as good as empty.
        weights: W1 to W4 and QL.
    """
    own = executors[component.name]
    if own <= component.least:
        return KEEP
    fewest, most = min(executors.values()), max(executors.values())
    more = (own - fewest) / (most - fewest) if most > fewest else 0.0
    total = sum(scalings.values())
    share = scalings.get(component.name, 0) / total if total else 0.0
    bonus = weights.queue_bonus if empty_queue else 0.0
    return (
        1.0
        + weights.executors * more
        + weights.queue * bonus
        - weights.delay * delay
        - weights.scalings * share
    )
