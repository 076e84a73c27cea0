"""Limits on co-location: how many operators of a group may share a node."""

from __future__ import annotations

from dataclasses import dataclass

from scheduler.base.checks import ModelError, name, shown


@dataclass(frozen=True)
class CoLocationLimit:
    """At most some of these operators may run on one node; 1 keeps them all apart (anti-affinity).

    Attributes:
        operators: Names, each once.
        most: Largest number of them on one node (>= 1).
    """

    operators: tuple[str, ...]
    most: int = 1

    def __post_init__(self) -> None:
        if not isinstance(self.operators, list | tuple) or not self.operators:
            raise ModelError("operators", f"expected names of operators, got {shown(self.operators)}")
        names = tuple(name(f"operators[{k}]", each) for k, each in enumerate(self.operators))
        for k, each in enumerate(names):
            if each in names[:k]:
                raise ModelError(f"operators[{k}]", f"{shown(each)} is there twice")
        if isinstance(self.most, bool) or not isinstance(self.most, int) or self.most < 1:
            raise ModelError("most", f"expected a whole number >= 1, got {shown(self.most)}")
        object.__setattr__(self, "operators", names)

    @property
    def resource(self) -> str:
        """The name under which it counts as a resource of nodes."""
        return f"shared slots of {', '.join(self.operators)}"
