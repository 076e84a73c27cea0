"""The reading of one host: the JSON object of the znode `<root>/nodes/<host>`, its keys, units and bounds.

Agents write it, the daemon reads it; both are checked against these definitions. A reader ignores keys that
it does not know, so that a later agent may add some without changing the version.
"""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired

from annotated_types import Ge, Gt, Interval, Len, MinLen
from typing_extensions import TypedDict  # pydantic, which reads readings, takes no other before Python 3.12

VERSION: Literal[1] = 1
LARGEST_DELAY_MS = 60_000.0
"""No network has delays of a minute; what is further away would drown all others in rounding errors."""

READ = {"strict": True, "extra": "ignore", "allow_inf_nan": False}
"""How pydantic reads these types: no conversion of types, unknown keys ignored, all numbers finite."""

_DelayMs = Annotated[float, Interval(ge=0, le=LARGEST_DELAY_MS)]
_PositionMs = Annotated[float, Interval(ge=-LARGEST_DELAY_MS, le=LARGEST_DELAY_MS)]
_NotNegative = Annotated[float, Ge(0)]
_Fraction = Annotated[float, Interval(ge=0, le=1)]
_BytesPerSecond = Annotated[float, Gt(0)]
_Count = Annotated[int, Ge(0)]
_Name = Annotated[str, MinLen(1)]


class LinkFields(TypedDict):
    """A measured link to a peer.

    Attributes:
        delay_ms: One way, half of a round trip.
        age_s: Time since the last answer.
        delay_age_s: Time since the last answer that agrees with the delay; `age_s` where it is left out.
        samples: Answers behind the delay.
        loss: Share of probes without an answer.
        availability: Probability that the link is up.
        bandwidth_bytes_per_s: What the path carries, with IP headers; only where it is measured.
        bandwidth_age_s: Time since the last train of packets behind it.
    """

    delay_ms: _DelayMs
    age_s: _NotNegative
    delay_age_s: NotRequired[_NotNegative]
    samples: NotRequired[_Count]
    loss: NotRequired[_Fraction]
    availability: NotRequired[_Fraction]
    bandwidth_bytes_per_s: NotRequired[_BytesPerSecond]
    bandwidth_age_s: NotRequired[_NotNegative]


class LoadFields(TypedDict):
    """Shares in use, runnable threads per core, worker slots; None where the agent does not know."""

    cpu: _Fraction
    memory: _Fraction
    run_queue: NotRequired[_NotNegative | None]
    slots_used: NotRequired[_Count | None]
    slots: NotRequired[_Count | None]


class OutagesFields(TypedDict):
    """Number of outages, faded over the agent's horizon; s since the last one ended, None without any."""

    count: _NotNegative
    last_s: NotRequired[_NotNegative | None]


class WorkerFields(TypedDict):
    """A worker with all that it started.

    Attributes:
        port: Of its slot.
        topology: Id of its topology.
        percent: Processor time, percent of one core.
        children: Processor time of the processes that it started, s, by the `script_key` of the last argument
            of their commands: for a component in another process that is its script. Each counts from when
            the agent first saw it. Left out without any, and by older agents.
    """

    port: Annotated[int, Interval(ge=0, le=65535)]
    topology: str
    percent: Annotated[float, Interval(ge=0, le=1e6)]
    children: NotRequired[dict[str, _NotNegative]]


class NodeFields(TypedDict):
    """A whole reading.

    Attributes:
        version: `VERSION`.
        time: Unix time of the reading, s.
        sequence: Number of the reading, from 1 at each start of the agent.
        lifetime_s: Age from which the reading counts as missing.
        host: Name of the host, as its supervisor calls it.
        site: Name of its data centre, if it is known.
        tier: One of `formats.tier.TIERS`, if it is known. Any text may be read: one that an older daemon does
            not know costs it no more than the tier.
        coordinate: Position in the Euclidean part of the network coordinate, ms.
        height: Cost of reaching the core of the network, ms.
        error: Relative error that the host estimates.
        availability: Probability that the host is up and reachable.
        outages: Times when it was down or cut off.
        load: Of its processors, memory and slots.
        links: Measured links by peer.
        probe: Where the agent answers probes, `HOST:PORT`.
        workers: Workers that run for a while; left out by older agents.
    """

    version: Literal[1]
    time: float
    sequence: int
    lifetime_s: NotRequired[Annotated[float, Gt(0)] | None]
    host: _Name
    site: NotRequired[_Name | None]
    tier: NotRequired[str | None]
    coordinate: Annotated[list[_PositionMs], Len(1, 16)]
    height: _DelayMs
    error: _NotNegative
    availability: _Fraction
    outages: NotRequired[OutagesFields | None]
    load: NotRequired[LoadFields | None]
    links: NotRequired[dict[str, LinkFields] | None]
    probe: NotRequired[str | None]
    workers: NotRequired[list[WorkerFields]]


for _fields in (LinkFields, LoadFields, OutagesFields, WorkerFields, NodeFields):
    _fields.__pydantic_config__ = READ  # type: ignore[union-attr]  # its hook
