"""What the experiment has to know of a topology that it scales."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, get_args

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from experiments.lab_elasticity.profiles import ProfileDefaults, ProfileName
    from formats.address import Address

WorkloadName: TypeAlias = Literal["sleeping", "taxi"]
WORKLOADS: tuple[WorkloadName, ...] = get_args(WorkloadName)
WORKERS = "1"
"""So many are asked for, so that each host that is needed has one: what starts are few Java machines."""
BEGINS = "load begins"
"""What a feeding program writes at the start of a line when the first item of the load is due."""


@dataclass(frozen=True)
class Scaled:
    """A component whose executors the loop chooses.

    Attributes:
        name: Of the component.
        service_ms: For so long an item occupies an executor, ms.
        tasks: Of the component; items come to all alike.
        stated: Whether the loop's settings state that time; else the loop measures it.
    """

    name: str
    service_ms: float
    tasks: int
    stated: bool = False


@dataclass(frozen=True)
class Start:
    """How a turn's topology is to begin.

    Attributes:
        run: Of the turn.
        rate: Items/s for which it has executors.
        graphite: Where workers report to.
        folder: The turn's folder.
    """

    run: str
    rate: float
    graphite: Address
    folder: Path


@dataclass(frozen=True)
class Feed:
    """How a turn's items come.

    Attributes:
        run: Of the turn.
        due: JSON file: seconds since the start at which items are due.
        items: JSON file that takes what was due and what came.
        folder: The turn's folder.
    """

    run: str
    due: Path
    items: Path
    folder: Path


class Workload(Protocol):
    """A topology that is scaled.

    Attributes:
        name: Of the topology in Nimbus.
        title: What it is, for people, as a sentence.
        sites: Site file of a lab that it fits.
        scaled: What is scaled.
        single_ms: Component -> stated time of an item, ms, of those that keep their one executor.
        executors_beside: Of all other components, ackers included.
        profiles: How each profile is run if nothing else is said.
        most_items: Items that it has at the most; None: any number.
        answers: Whether what comes out can be right or wrong.
    """

    name: WorkloadName
    title: str
    sites: Path
    scaled: tuple[Scaled, ...]
    single_ms: Mapping[str, float]
    executors_beside: int
    profiles: Mapping[ProfileName, ProfileDefaults]
    most_items: int | None
    answers: bool

    def lag(self, run: str) -> Mapping[str, object]:
        """Return the table of the loop's settings that says what waits at the source of a run."""

    def submit(self, start: Start) -> Sequence[str]:
        """Return the arguments of Python that submit it on the lab's Nimbus host."""

    def feed(self, feed: Feed) -> Sequence[str]:
        """Return the arguments of Python that feed it on the lab's Redis host, and wait for what comes."""

    def wrong(self, expected: Path, turns: Sequence[Path]) -> Sequence[str | None]:
        """Return for each turn's folder what is wrong with its answers; nothing where they are right.

        Args:
            expected: Folder for the expected answers.
            turns: Finished turns.
        """
