"""What a run asks of a policy, whatever its kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from experiments.elasticity.fleet import Fleet
    from experiments.elasticity.observing import Observer
    from scheduler.elasticity.leasing.decision import LeasingDecision


class Moment(NamedTuple):
    """When a policy is asked.

    Attributes:
        step: How many steps have passed.
        before: How many had when it was asked last.
    """

    step: int
    before: int


@dataclass(frozen=True)
class First:
    """What a region has when the run begins.

    Attributes:
        executors: Of each component that is ever there.
        hosts: At least.
    """

    executors: Mapping[str, int]
    hosts: int


class Policy(Protocol):
    """A policy in a run; it keeps what its pure function remembers."""

    @property
    def first(self) -> Mapping[str, First]:
        """What there is to begin with, by region."""

    def decide(
        self, observer: Observer, fleets: Mapping[str, Fleet], now: Moment
    ) -> Mapping[str, LeasingDecision]:
        """Decide a round for each region.

        Args:
            observer: Measures the run.
            fleets: Hosts by region.
            now: When.
        """
