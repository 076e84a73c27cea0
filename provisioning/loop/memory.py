"""What the loop remembers: how the cluster is to be, and what a policy knows from the rounds before.

It is written before anything is done. Each round then brings the cluster there, step by step, and every step
may be repeated: a loop that was killed between any two of them goes on where it was.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from pydantic import PositiveFloat, PositiveInt, TypeAdapter, ValidationError

from bridge.faults import phrases
from formats.state_file import write_state
from provisioning.loop.copy_of_cluster import Copy  # noqa: TC001 - pydantic reads it
from provisioning.measuring.component_readings import TopologyMemory  # noqa: TC001 - pydantic reads it

if TYPE_CHECKING:
    from pathlib import Path


HOUR_S = 3600.0
"""Changes are limited by the hour, s."""


class MemoryFileError(Exception):
    """The file cannot be read or written; one sentence that names it."""


@dataclass(frozen=True)
class Request:
    """A host that was asked for and is not up yet.

    Attributes:
        offer: Name of the offer.
        asked_s: When it was decided, s since 1970.
        starts: Executors by `topology/component` that start once it is up.
        topology_ids: Of the starts of topologies that are meant, by their names.
        room_for: Topology of which tasks have no slot; empty: a policy asked for it.
    """

    offer: str
    asked_s: float
    starts: Mapping[str, int]
    topology_ids: Mapping[str, str] = field(default_factory=dict)
    room_for: str = ""


@dataclass(frozen=True)
class Wanted:
    """Numbers of executors that a topology is to have, and does not have yet.

    Attributes:
        executors: By component.
        before: What it had then; what does not come about is taken back.
        topology_id: Of the start of it that is meant; empty: whichever runs.
        asked_s: When Nimbus was last asked for it, s; None: not yet.
        times: How often it was asked.
    """

    executors: Mapping[str, int]
    before: Mapping[str, int] = field(default_factory=dict)
    topology_id: str = ""
    asked_s: float | None = None
    times: int = 0


@dataclass(frozen=True)
class Refused:
    """A number of executors that did not come about.

    Attributes:
        executors: So many, or more, are not asked for again.
        until_s: Until then, s since 1970.
        times: How often that happened in a row; each time it is believed for longer.
    """

    executors: int
    until_s: float
    times: int = 1


@dataclass(frozen=True)
class Draining:
    """A host that is emptied and then given back.

    Attributes:
        lease_id: Its lease.
        at_s: End of its paid time, s since 1970: it has to be empty by then, and goes then.
        empty_s: Since when Nimbus has no workers there, s; None: it has some.
        held: Whether the daemon has been asked to empty it.
        at_once: Whether it goes as soon as it is empty.
    """

    lease_id: str
    at_s: float
    empty_s: float | None = None
    held: bool = False
    at_once: bool = False


@dataclass(frozen=True)
class Measured:
    """A pause of a topology that was measured.

    Attributes:
        workers: That were expected to start anew.
        lasted_s: s.
    """

    workers: PositiveInt
    lasted_s: PositiveFloat


@dataclass(frozen=True)
class Pausing:
    """A topology whose items stand still since its executors change.

    Attributes:
        since_s: When Nimbus was asked for the change, s since 1970.
        expected_s: For how long that was expected, s.
        workers: That were expected to start anew.
        moving_s: When they were seen moving again, s since 1970; None: not yet.
        lasted_s: The pause as it was seen until now, s; None: not yet.
    """

    since_s: float
    expected_s: float
    workers: int = 1
    moving_s: float | None = None
    lasted_s: PositiveFloat | None = None


@dataclass(frozen=True)
class Memory:
    """All of it.

    Attributes:
        instance: Part of the names of requests, so that none of an earlier memory is asked for again.
        version: Of the file.
        kind: Of the policy whose state this is.
        policy: State of the policy, as JSON has it; None: before its first round.
        requests: By their identities.
        wanted: By topology.
        draining: By host.
        refused: By `topology/component`.
        unlisted_s: Leased hosts that Nimbus does not list any more, since when, s since 1970.
        topologies: What was measured, by topology id.
        changed_s: When a topology was last changed, by its name, s since 1970.
        changes: When Nimbus was asked to change it within the last hour, by its name.
        pausing: Topologies that have not shown yet that items move again, by name.
        past_pauses: For how long they stood still when they were changed, by name, the oldest first.
        lost_s: When a host of an offer last did not come, by the offer's name, s since 1970.
        unplaced_s: Since when tasks of a topology have had no slot while nothing changed, s since 1970.
        rooms_s: When hosts were asked for these within the last hours, and came, or may come.
        astray_s: Since when a topology has had workers on hosts that Nimbus does not list, s since 1970.
        copy: Of the cluster, where advice is given; None: there is none yet.
        real_host_s: Hosts of the cluster times seconds since the copy was made.
    """

    instance: str
    version: Literal[1] = 1
    kind: str = ""
    policy: Any = None
    requests: Mapping[str, Request] = field(default_factory=dict)
    wanted: Mapping[str, Wanted] = field(default_factory=dict)
    draining: Mapping[str, Draining] = field(default_factory=dict)
    refused: Mapping[str, Refused] = field(default_factory=dict)
    unlisted_s: Mapping[str, float] = field(default_factory=dict)
    topologies: Mapping[str, TopologyMemory] = field(default_factory=dict)
    changed_s: Mapping[str, float] = field(default_factory=dict)
    changes: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    pausing: Mapping[str, Pausing] = field(default_factory=dict)
    past_pauses: Mapping[str, tuple[Measured, ...]] = field(default_factory=dict)
    lost_s: Mapping[str, float] = field(default_factory=dict)
    unplaced_s: Mapping[str, float] = field(default_factory=dict)
    rooms_s: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    astray_s: Mapping[str, float] = field(default_factory=dict)
    copy: Copy | None = None
    real_host_s: float = 0.0


_JSON = TypeAdapter(Memory)
_JSON.rebuild(_types_namespace={"Mapping": Mapping})


class MemoryFile:
    """The file.

    Args:
        path: Where it is.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> Memory:
        """Return what is remembered; without a file, nothing.

        Raises:
            MemoryFileError: The file cannot be read, or is none of ours.
        """
        try:
            content = self._path.read_bytes()
        except FileNotFoundError:
            return Memory(secrets.token_hex(4))
        except OSError as error:
            raise MemoryFileError(f"{self._path}: cannot be read ({error.strerror})") from error
        try:
            return _JSON.validate_json(content)
        except ValidationError as error:
            faults = "; ".join(phrases(error)[:3])
            raise MemoryFileError(f"{self._path}: is no memory of an elastic loop: {faults}") from error

    def write(self, memory: Memory) -> None:
        """Replace what is remembered, in one step.

        Raises:
            MemoryFileError: It cannot be written: then nothing may be done.
        """
        try:
            write_state(self._path, _JSON.dump_python(memory, mode="json"))
        except OSError as error:
            raise MemoryFileError(f"{self._path}: cannot be written ({error.strerror})") from error
