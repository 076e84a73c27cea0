"""Where the executors of a run were: the placement file of a run folder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, Field, ValidationError

from replay.errors import DataError
from replay.output import read_json

if TYPE_CHECKING:
    from pathlib import Path

    from replay.sites import Sites

PLACEMENT = "placement.json"

#: The query's streams (paper 000, figure 8); the diamond at filterByCoordinates is closed by countByWindow.
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


def read_placement(folder: Path, sites: Sites) -> tuple[ExecutorPlace, ...]:
    """Read placement.json of a run folder, as `stormplace taxi placement` prints it.

    Storm's own components (their names begin with `__`) are left out.

    Raises:
        DataError: The file is missing or malformed, names a host that is not in the site file, or lacks a
            component of the query.
    """
    path = folder / PLACEMENT
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
    missing = {component for stream in TAXI_STREAMS for component in stream} - {
        place.component for place in places
    }
    if missing:
        raise DataError(f"{path}: executors: no executor of {', '.join(sorted(missing))}")
    return tuple(places)
