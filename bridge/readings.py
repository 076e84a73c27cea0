"""Readings of supervisor hosts: which are believed, and why the others are not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bridge.messages import ReadingKind

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from bridge.messages import PlanRequest
    from bridge.settings import ReadingsSettings

# The model works with logarithms: a host that is said to be never up is nearly never up.
LEAST_AVAILABILITY = 1e-6
# No network has delays of a minute; what is further away would drown all others in rounding errors.
LARGEST_COORDINATE_MS = 60_000.0
_Finite = Annotated[float, Field(allow_inf_nan=False)]
_Position = Annotated[float, Field(ge=-LARGEST_COORDINATE_MS, le=LARGEST_COORDINATE_MS, allow_inf_nan=False)]
_Height = Annotated[float, Field(ge=0, le=LARGEST_COORDINATE_MS, allow_inf_nan=False)]
_NotNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]
_Fraction = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class _Load(BaseModel):
    # Further load figures may be published: only the two that the contract names are checked.
    model_config = ConfigDict(strict=True, extra="ignore")
    cpu: _Fraction
    memory: _Fraction


class _NodePayload(BaseModel):
    # Later agents may add fields without changing the version, so unknown ones are ignored.
    model_config = ConfigDict(strict=True, extra="ignore")
    version: Literal[1]
    time: _Finite
    sequence: int
    lifetime_s: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    host: Annotated[str, Field(min_length=1)]
    site: Annotated[str, Field(min_length=1)] | None = None
    coordinate: Annotated[list[_Position], Field(min_length=1, max_length=16)]
    height: _Height
    error: _NotNegative
    availability: _Fraction
    load: _Load | None = None
    probe: str | None = None


@dataclass(frozen=True, slots=True)
class Coordinate:
    """A network coordinate: one-way delay = Euclidean distance + both heights, ms.

    Attributes:
        position_ms: Place in the Euclidean part.
        height_ms: Cost of reaching the core of the network.
        error: Relative error that the host estimates.
    """

    position_ms: tuple[float, ...]
    height_ms: float
    error: float


@dataclass(frozen=True, slots=True)
class NodeReading:
    """What one host tells about itself.

    Attributes:
        host: Name of the host.
        site: Its site, if the agent knows it.
        coordinate: None if the error estimate is too large to be used.
        availability: Fraction of time that the host is up.
    """

    host: str
    site: str | None
    coordinate: Coordinate | None
    availability: float


@dataclass(frozen=True)
class Readings:
    """The readings that are believed, and what is wrong with the others.

    Attributes:
        by_host: Believed readings.
        stale: Hosts whose reading is older than its lifetime, sorted.
        uncertain: Hosts whose coordinate has too large an error, sorted.
        faults: One phrase per malformed or contradictory reading.
        live: False if the shim has no connection to ZooKeeper.
    """

    by_host: Mapping[str, NodeReading]
    stale: tuple[str, ...]
    uncertain: tuple[str, ...]
    faults: tuple[str, ...]
    live: bool


def read_nodes(request: PlanRequest, hosts: Collection[str], settings: ReadingsSettings) -> Readings:
    """Parse the node readings of a request.

    A reading counts as missing, never as zero, if it is older than the lifetime that it states.

    Args:
        request: The round.
        hosts: Hosts of the cluster; readings of others are left aside.
        settings: Lifetime where none is stated, largest error that is believed.
    """
    by_host: dict[str, NodeReading] = {}
    stale: list[str] = []
    uncertain: list[str] = []
    faults: list[str] = []
    for reading in request.readings:
        if reading.kind is not ReadingKind.NODE or reading.name not in hosts:
            continue
        try:
            payload = _NodePayload.model_validate_json(reading.payload)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = ".".join(str(part) for part in first["loc"])
            faults.append(
                f"reading of {reading.name} is malformed ({place + ': ' if place else ''}{first['msg']})"
            )
            continue
        if payload.host != reading.name:
            faults.append(f"reading of {reading.name} says that it is of {payload.host}")
            continue
        if reading.name in by_host or reading.name in stale:
            faults.append(f"reading of {reading.name} occurs twice")
            continue
        lifetime_s = settings.lifetime_s if payload.lifetime_s is None else payload.lifetime_s
        if reading.age_ms > lifetime_s * 1000:
            stale.append(reading.name)
            continue
        trusted = payload.error <= settings.max_error
        if not trusted:
            uncertain.append(reading.name)
        by_host[reading.name] = NodeReading(
            host=payload.host,
            site=payload.site,
            coordinate=Coordinate(tuple(payload.coordinate), payload.height, payload.error)
            if trusted
            else None,
            availability=max(payload.availability, LEAST_AVAILABILITY),
        )
    return Readings(
        by_host, tuple(sorted(stale)), tuple(sorted(uncertain)), tuple(faults), request.readings_live
    )
