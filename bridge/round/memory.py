"""What one round hands to the next: changes, watched gains, whether delays are measured, plans made since."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pydantic import ConfigDict, TypeAdapter, ValidationError

from bridge.faults import phrases

_STRICT = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


@dataclass(frozen=True)
class Change:
    """The last plan that gave a topology another assignment.

    Attributes:
        time_s: When it was made.
        digest: Hexadecimal SHA-256 of the supervisors that it gave, and of who shares a worker: the cluster
            may show others if it was not carried out.
    """

    __pydantic_config__ = _STRICT

    time_s: float
    digest: str


@dataclass(frozen=True)
class Watched:
    """A placement that is better than the running one, and since when.

    Attributes:
        hosts: Name of the host of each executor; empty if it cannot be had any more and the next one takes
            its place.
        since_s: Time of the first of the rounds without a break that saw its gain.
        began: Name of the host of each executor before the first of several rounds that carry it out; empty
            if none has begun to.
    """

    __pydantic_config__ = _STRICT

    hosts: tuple[str, ...]
    since_s: float
    began: tuple[str, ...] = ()


@dataclass(frozen=True)
class Looked:
    """The last look for gains of a topology that is looked at only now and then.

    Attributes:
        time_s: When it was.
        situation: Hexadecimal SHA-256 of the hosts and of the topology's settings.
        reason: Why the topology was kept.
    """

    __pydantic_config__ = _STRICT

    time_s: float
    situation: str
    reason: str


@dataclass(frozen=True)
class TopologyMemory:
    """What is remembered of one topology.

    Attributes:
        id: The topology.
        change: None if its last change is forgotten, or was never seen.
        watched: None if no gain is being watched.
        looked: None if each round looks for gains.
    """

    __pydantic_config__ = _STRICT

    id: str
    change: Change | None = None
    watched: Watched | None = None
    looked: Looked | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing is remembered."""
        return self.change is None and self.watched is None and self.looked is None


@dataclass(frozen=True)
class Prepared:
    """A plan that was made after the answer for which time had run out.

    Attributes:
        id: The topology.
        supervisors: Id of the supervisor of each executor.
        ports: Port of each executor.
    """

    __pydantic_config__ = _STRICT

    id: str
    supervisors: tuple[str, ...]
    ports: tuple[int, ...]


@dataclass(frozen=True)
class Restarted:
    """A worker that a round restarted.

    Attributes:
        time_s: When it was.
        topology: Its topology.
        site: Where it ran, None if that was not known.
        executors: Lowest task of each of its executors, ascending.
    """

    __pydantic_config__ = _STRICT

    time_s: float
    topology: str
    site: str | None
    executors: tuple[int, ...]


@dataclass(frozen=True)
class StartedWorker:
    """A worker that starts by a plan.

    Attributes:
        task: Lowest task of one of its executors, which stands for it.
        site: Site of its host, None if it is not known.
        first: Whether the topology did not run on this host.
    """

    __pydantic_config__ = _STRICT

    task: int
    site: str | None
    first: bool


@dataclass(frozen=True)
class Start:
    """How long a worker took to start.

    Attributes:
        pause_s: From the plan until it ran, s.
        site: Site of its host, None if it was not known.
        first: Whether its topology had not run on this host.
        works_s: From the plan until its executors worked, or were ready and had nothing to do, s; None if
            that was not known.
    """

    __pydantic_config__ = _STRICT

    pause_s: float
    site: str | None
    first: bool
    works_s: float | None = None


@dataclass(frozen=True)
class Awaited:
    """A plan of which it is awaited what it really costs.

    Attributes:
        id: The topology.
        unix_s: Time of the round that made it, s since 1970.
        digest: Of the workers that start by it, their executors and slots: others later are none of it.
        starts: These workers.
        executors: Running executors that restart; 0 if it restarts none.
        workers: Running workers that restart.
        pause_s: The pause that was predicted, s.
        response_time_ms: Response time of staying and after it by the model, None where that is not known.
        complete_ms: Measured time from emission to acknowledgement before it, likewise.
    """

    __pydantic_config__ = _STRICT

    id: str
    unix_s: float
    digest: str
    starts: tuple[StartedWorker, ...]
    executors: int
    workers: int
    pause_s: float
    response_time_ms: tuple[float | None, float | None] = (None, None)
    complete_ms: float | None = None


@dataclass(frozen=True)
class MeasuredWay:
    """What agents measured between two sites.

    Attributes:
        between: Names of the sites, ascending.
        bytes_per_s: Bandwidth, bytes/s.
        time_s: Time of the last round that heard of it.
    """

    __pydantic_config__ = _STRICT

    between: tuple[str, str]
    bytes_per_s: float
    time_s: float


@dataclass(frozen=True)
class Memory:
    """What is remembered of a cluster.

    Attributes:
        topologies: Those of which anything is remembered, in ascending order of their ids.
        measured: Whether delays were measured in any round: the cluster has agents, even if none publishes.
            None in records of rounds that did not ask.
        prepared: Plans for topologies that the last round had no time for.
        restarts: Time and number of the running executors that rounds restarted, as long as they count for
            `move.max_restarts_per_hour`; empty without that setting.
        workers: Workers that rounds restarted, as long as they count for the budgets of sites and workers;
            empty without these settings.
        to_measure: Plans whose real price is awaited.
        starts: How long the last workers that plans started took.
        ways: Bandwidths between sites that agents measured, as long as they count.
    """

    __pydantic_config__ = _STRICT

    topologies: tuple[TopologyMemory, ...] = ()
    measured: bool | None = None
    prepared: tuple[Prepared, ...] = ()
    restarts: tuple[tuple[float, int], ...] = ()
    workers: tuple[Restarted, ...] = ()
    to_measure: tuple[Awaited, ...] = ()
    starts: tuple[Start, ...] = ()
    ways: tuple[MeasuredWay, ...] = ()

    @property
    def starts_only(self) -> Memory:
        """What a round in thought has to know to price what it moves."""
        return Memory(measured=False, starts=self.starts)

    @property
    def unwatched(self) -> Memory:
        """What the next round has to know after one that looked for no gain.

        What was not looked at was not seen without a break: its gain has to be seen anew. A change that began
        needs no gain to be seen, and goes on.
        """
        entries = (
            each if each.watched is None or each.watched.began else replace(each, watched=None)
            for each in self.topologies
        )
        kept = tuple(each for each in entries if not each.is_empty)
        return Memory(kept, self.measured)

    def to_json(self) -> str:
        """Return the memory as JSON; times are in seconds on the clock of the rounds."""
        return _ADAPTER.dump_json(self).decode()


NOTHING = Memory(measured=False)
_ADAPTER = TypeAdapter(Memory)


def memory_from_json(text: str) -> Memory:
    """The inverse of `Memory.to_json`, for records.

    Raises:
        ValueError: The text is no memory; one sentence with the path.
    """
    try:
        return _ADAPTER.validate_json(text)
    except ValidationError as error:
        raise ValueError("; ".join(phrases(error, "memory"))) from error
