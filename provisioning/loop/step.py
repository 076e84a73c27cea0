"""What is done in a round, and whom it is asked of beside the provider of hosts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

from provisioning.cluster.drains import DrainError
from provisioning.providers.provider import BusyHostError, ProviderError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

StepKind = Literal[
    "host-asked",
    "host-up",
    "host-lost",
    "rebalanced",
    "changed",
    "resumed",
    "given-up",
    "released",
    "kept",
    "failed",
]


@dataclass(frozen=True)
class Step:
    """Something that was done, or could not be done.

    Attributes:
        kind: What.
        about: Topology, host or request.
        why: One sentence, or what it was.
        figures: What it says in numbers, by name.
    """

    kind: StepKind
    about: str
    why: str = ""
    figures: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Steps:
    """What was done in a round.

    Attributes:
        taken: In this order.
    """

    taken: list[Step] = field(default_factory=list)

    def did(self, kind: StepKind, about: str, why: str = "", **figures: float) -> None:
        """Note a step."""
        self.taken.append(Step(kind, about, why, figures))

    def attempted(self, about: str, step: Callable[[], object]) -> bool:
        """Take a step, or note that a provider or the daemon refused it; return whether it was taken."""
        try:
            step()
        except BusyHostError:
            return False  # its workers are on their way out
        except (ProviderError, DrainError) as error:
            self.did("failed", about, str(error))
            return False
        return True


class Drains(Protocol):
    """Tells the placement daemon which hosts are to be empty."""

    def hold(self, host: str, lifetime_s: float) -> None:
        """Drain a host, for so long at the most if this is not said again.

        Raises:
            DrainError: That cannot be said now.
        """

    def end(self, host: str) -> None:
        """Let executors come again; a host that is not drained stays so.

        Raises:
            DrainError: That cannot be said now.
        """


class Cluster(Protocol):
    """What is asked of Nimbus."""

    def rebalance(self, name: str, executors: Mapping[str, int]) -> None:
        """Change how many executors components of a topology have."""
