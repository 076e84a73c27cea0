"""Separation: how many operators of a group may share a node."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from scheduler.base.checks import ModelError, distinct_names, shown
from scheduler.model.constraints.constraint import Constraint, Resource
from scheduler.model.constraints.names import operators_of

if TYPE_CHECKING:
    from scheduler.model.application import Application


@dataclass(frozen=True)
class CoLocationLimit(Constraint):
    """At most some of these operators may run on one node; 1 keeps them all apart (anti-affinity).

    It is one more resource, of which each of the operators demands 1 and every node has `most`.

    Attributes:
        operators: Names, each once.
        most: Largest number of them on one node (>= 1).
    """

    kind: ClassVar[str] = "co_location"

    operators: tuple[str, ...]
    most: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "operators", distinct_names("operators", self.operators))
        if isinstance(self.most, bool) or not isinstance(self.most, int) or self.most < 1:
            raise ModelError("most", f"expected a whole number >= 1, got {shown(self.most)}")

    def resource(self, application: Application, where: str) -> Resource:
        """Return the slots that the operators share."""
        demand = np.zeros(len(application.operators))
        demand[operators_of(application, self.operators, where)] = 1.0
        return Resource(f"shared slots of {', '.join(self.operators)}", demand, float(self.most))
