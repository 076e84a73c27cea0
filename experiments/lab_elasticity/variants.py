"""What the experiment runs, and in which order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from experiments import folder

PolicyName: TypeAlias = Literal["static", "sized", "btu", "threshold", "model-based", "rolling"]
POLICIES: tuple[PolicyName, ...] = get_args(PolicyName)
STATIC: PolicyName = "static"
SIZED: PolicyName = "sized"
MANAGERS: tuple[PolicyName, ...] = ("model-based", "rolling")
"""Managers of components (paper 004), beside which a number of hosts is kept idle."""
LAYERS = "layers"


@dataclass(frozen=True)
class VariantTurn:
    """One policy in one repetition."""

    policy: PolicyName
    repetition: int

    @property
    def label(self) -> str:
        """Name of the turn, of its folder and of its run in Redis."""
        return f"{self.policy}-{self.repetition}"

    @property
    def decides(self) -> PolicyName:
        """The policy of the loop: beside what is there from the start, one that advises."""
        return self.policy if self.elastic else SIZED

    @property
    def kind(self) -> str:
        """Kind of the policy in the loop's settings."""
        return LAYERS if self.policy in MANAGERS else self.decides

    @property
    def elastic(self) -> bool:
        """Whether the loop is active; else there is from the start what the peak needs, and it advises."""
        return self.policy != STATIC


def turns(policies: str | None, repetitions: int) -> tuple[VariantTurn, ...]:
    """Return the turns in their order.

    Args:
        policies: Comma-separated; None: all.
        repetitions: Turns of each.

    Raises:
        ExperimentError: An unknown policy, or one that is named twice.
    """
    names = POLICIES if policies is None else folder.chosen("--policies", policies, POLICIES)
    return tuple(VariantTurn(name, number) for number in range(1, repetitions + 1) for name in names)
