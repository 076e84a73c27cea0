"""What the daemon remembers of each cluster that it plans for."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bridge.round.memory import NOTHING
from bridge.server.fault_log import FaultLog
from bridge.server.reading_watch import ReadingWatch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bridge.round.memory import Memory
    from bridge.server.afterwork import Afterwork
    from bridge.wire.messages import PlanRequest


class UnknownClusterError(ValueError):
    """Which cluster is meant is not known; one sentence."""


MOST_CLUSTERS = 16
"""One daemon serves few clusters; names that no cluster has must not fill its memory."""


@dataclass(frozen=True)
class Shown:
    """The last round of a cluster.

    Attributes:
        request: The round, with its answer carried out.
        time_s: When it began, monotonic s.
        memory: What it handed on.
    """

    request: PlanRequest
    time_s: float
    memory: Memory


@dataclass
class RememberedCluster:
    """One cluster.

    Attributes:
        memory: What its last round handed on.
        memory_s: When that round began, monotonic s.
        fault_log: Which faults of its rounds were logged.
        watch: Follows its readings.
        afterwork: What its last round left over is being planned.
        request: Its last round with the answer carried out, None before the first.
    """

    memory: Memory = NOTHING
    memory_s: float = 0.0
    fault_log: FaultLog = field(default_factory=FaultLog)
    watch: ReadingWatch = field(default_factory=ReadingWatch)
    afterwork: Afterwork | None = None
    request: PlanRequest | None = None

    def shown(self) -> Shown | None:
        """Return its last round, None before the first."""
        return None if self.request is None else Shown(self.request, self.memory_s, self.memory)


class Clusters:
    """The clusters that were served last; not safe to use from several threads.

    Args:
        most: Largest number of clusters with a name; the one that was not served for longest is forgotten.
    """

    def __init__(self, most: int = MOST_CLUSTERS) -> None:
        self._most = most
        self._named: OrderedDict[str, RememberedCluster] = OrderedDict()
        # Clients that name no cluster share it, so that they wipe none that has a name.
        self._unnamed = RememberedCluster()

    def __iter__(self) -> Iterator[RememberedCluster]:
        """All of them."""
        yield self._unnamed
        yield from self._named.values()

    def of(self, name: str | None) -> RememberedCluster:
        """Return what is remembered of a cluster.

        Args:
            name: As in the request, None if it has none.
        """
        if name is None:
            return self._unnamed
        cluster = self._named.setdefault(name, RememberedCluster())
        self._named.move_to_end(name)
        if len(self._named) > self._most:
            self._named.popitem(last=False)
        return cluster

    def last(self, name: str | None) -> Shown:
        """Return the last round of a cluster.

        Args:
            name: As in its request; None asks for the only one.

        Raises:
            UnknownClusterError: There is no such cluster, or several; one sentence.
        """
        known: list[tuple[str | None, RememberedCluster]] = [*self._named.items(), (None, self._unnamed)]
        rounds = {each: shown for each, cluster in known if (shown := cluster.shown()) is not None}
        if not rounds:
            raise UnknownClusterError("no cluster has asked for a plan yet")
        names = ", ".join(sorted(each or "one without a name" for each in rounds))
        if name is not None and name not in rounds:
            raise UnknownClusterError(f"cluster {name} has not asked for a plan; known: {names}")
        if name is None and len(rounds) > 1:
            raise UnknownClusterError(
                f"several clusters have asked for plans, so one has to be named: {names}"
            )
        return rounds[name] if name is not None else next(iter(rounds.values()))
