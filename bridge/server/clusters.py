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

MOST_CLUSTERS = 16
"""One daemon serves few clusters; names that no cluster has must not fill its memory."""


@dataclass
class RememberedCluster:
    """One cluster.

    Attributes:
        memory: What its last round handed on.
        memory_s: When that round began, monotonic s.
        fault_log: Which faults of its rounds were logged.
        watch: Follows its readings.
        afterwork: What its last round left over is being planned.
    """

    memory: Memory = NOTHING
    memory_s: float = 0.0
    fault_log: FaultLog = field(default_factory=FaultLog)
    watch: ReadingWatch = field(default_factory=ReadingWatch)
    afterwork: Afterwork | None = None


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
