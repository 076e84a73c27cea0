"""Where the executors of a run were: the placement file of a run folder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, Field, ValidationError

from replay.errors import DataError
from replay.output import read_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from formats.site_file import SiteFile

PLACEMENT = "placement.json"

#: Streams of query 1 (paper 000, figure 8); the diamond at filterByCoordinates is closed by countByWindow.
TAXI_STREAMS = (
    ("dataSource", "parser"),
    ("parser", "filterByCoordinates"),
    ("filterByCoordinates", "computeRouteID"),
    ("filterByCoordinates", "metronome"),
    ("computeRouteID", "countByWindow"),
    ("metronome", "countByWindow"),
    ("countByWindow", "partialRank"),
    ("partialRank", "globalRank"),
)

#: Streams of query 2, which shares the components up to filterByCoordinates.
AREA_STREAMS = (
    ("dataSource", "parser"),
    ("parser", "filterByCoordinates"),
    ("filterByCoordinates", "computeAreaID"),
    ("filterByCoordinates", "areaMetronome"),
    ("computeAreaID", "emptyTaxis"),
    ("areaMetronome", "emptyTaxis"),
    ("emptyTaxis", "profitability"),
    ("areaMetronome", "profitability"),
    ("profitability", "globalAreaRank"),
)

QUERY_STREAMS: Mapping[int, tuple[tuple[str, str], ...]] = {1: TAXI_STREAMS, 2: AREA_STREAMS}

_ALL_STREAMS = tuple(dict.fromkeys(stream for streams in QUERY_STREAMS.values() for stream in streams))


class _Executor(BaseModel):
    component: str
    first_task: int
    last_task: int
    host: str
    port: int


class _File(BaseModel):
    executors: Annotated[list[_Executor], Field(min_length=1)]


@dataclass(frozen=True)
class ExecutorPlace:
    """One executor and where it ran.

    Attributes:
        component: Id of its component.
        first_task: Its first task.
        host: Supervisor host.
        port: Worker slot.
        site: Site of the host.
    """

    component: str
    first_task: int
    host: str
    port: int
    site: str


def streams_of(places: Sequence[ExecutorPlace]) -> tuple[tuple[str, str], ...]:
    """Return the streams between the components that have executors, in the order of the way of a row."""
    there = {place.component for place in places}
    return tuple(stream for stream in _ALL_STREAMS if there.issuperset(stream))


def read_placement(folder: Path, sites: SiteFile) -> tuple[ExecutorPlace, ...]:
    """Read placement.json of a run folder, as `stormplace taxi placement` prints it.

    Storm's own components (their names begin with `__`) are left out.

    Raises:
        DataError: The file is missing or malformed, names a host that is not in the site file, or lacks a
            component of each of the queries.
    """
    return read_placement_file(folder / PLACEMENT, sites)


def read_placement_file(path: Path, sites: SiteFile) -> tuple[ExecutorPlace, ...]:
    """Read a placement as `read_placement` does, from a file of any name."""
    try:
        content = _File.model_validate(read_json(path))
    except ValidationError as error:
        fault = error.errors()[0]
        raise DataError(f"{path}: {'.'.join(str(part) for part in fault['loc'])}: {fault['msg']}") from error
    places = []
    for number, executor in enumerate(content.executors):
        if executor.component.startswith("__"):
            continue
        if executor.host not in sites.hosts:
            raise DataError(f"{path}: executors.{number}.host: {executor.host} is no host of the site file")
        site = sites.hosts[executor.host]
        places.append(
            ExecutorPlace(executor.component, executor.first_task, executor.host, executor.port, site)
        )
    there = {place.component for place in places}
    missing: list[list[str]] = [
        sorted({component for stream in streams for component in stream} - there)
        for streams in QUERY_STREAMS.values()
    ]
    if all(missing):
        # of two queries that are both not whole, the one that is nearly so was meant
        nearest = min(missing, key=len)
        raise DataError(f"{path}: executors: no executor of {', '.join(nearest)}")
    return tuple(places)
