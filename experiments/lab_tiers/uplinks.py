"""What passes the uplinks of the sites while a turn runs, by the emulator's counters."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, ConfigDict, Field

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lab.cluster import LabClient

UPLINKS = "uplinks.json"
EVERY_S = 2.0
_PREFIX = "uplink of "
_Count = Annotated[int, Field(ge=0)]


class Sample(BaseModel):
    """The counters at one moment.

    Attributes:
        time_s: Unix time.
        passed: Bytes that have passed the uplink since the lab's start, by site.
        dropped: Packets that would have waited too long before it, likewise.
    """

    model_config = ConfigDict(frozen=True)
    time_s: Annotated[float, Field(ge=0)]
    passed: dict[str, _Count]
    dropped: dict[str, _Count]


class KeptUplinks(BaseModel):
    """What a turn keeps.

    Attributes:
        idle: Two samples before the query was there.
        paced: Samples while rows came at the rate.
        still: Two samples while the query was there and nothing came.
    """

    model_config = ConfigDict(frozen=True)
    idle: tuple[Sample, Sample]
    paced: Annotated[tuple[Sample, ...], Field(min_length=2)]
    still: tuple[Sample, Sample]


def rates(first: Sample, last: Sample) -> dict[str, float]:
    """Return what passed each uplink between two samples, bytes per second, by site."""
    seconds = last.time_s - first.time_s
    return {site: (last.passed[site] - count) / seconds for site, count in first.passed.items()}


def within(samples: Sequence[Sample], begin_s: float, end_s: float) -> tuple[Sample, ...]:
    """Return the samples of a time."""
    return tuple(each for each in samples if begin_s <= each.time_s <= end_s)


@dataclass(frozen=True)
class Look:
    """A moment at which the counters are looked at, in seconds from the first row at the rate."""

    at_s: float


@dataclass
class Watch:
    """Looks at the uplinks of a lab.

    Attributes:
        lab: The lab, up.
        wall_s: Unix time.
        sleep: Waits so many seconds.
        paced: Samples while rows came at the rate.
    """

    lab: LabClient
    wall_s: Callable[[], float] = time.time
    sleep: Callable[[float], None] = time.sleep
    paced: list[Sample] = field(default_factory=list)

    def look(self, _: Look) -> None:
        """Take a sample while rows come."""
        self.paced.append(self._sample())

    def rest(self, rest_s: float) -> tuple[Sample, Sample]:
        """Take two samples that are so many seconds apart."""
        first = self._sample()
        self.sleep(rest_s)
        return first, self._sample()

    def _sample(self) -> Sample:
        links = self.lab.status().links
        uplinks = {name.removeprefix(_PREFIX): rest for name, *rest in links if name.startswith(_PREFIX)}
        return Sample(
            time_s=self.wall_s(),
            passed={site: passed for site, (passed, _) in uplinks.items()},
            dropped={site: dropped for site, (_, dropped) in uplinks.items()},
        )
