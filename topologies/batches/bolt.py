"""Base classes of components that work on batches: without state, and with state that needs order."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, NamedTuple

from topologies.batches.acking import is_replayed
from topologies.batches.header import Header
from topologies.batches.ordered import OrderedBatches
from topologies.component import HardenedBolt
from topologies.moments import now_us

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_OWN = len(Header.FIELDS)


class _GuardedBolt(HardenedBolt):
    """Anchors emits where Storm's acking guards the batches (`replay`): then rows that fail come again."""

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:  # noqa: ARG002 - Storm's
        """Read how the topology is run; subclasses call it first."""
        self.replay = self.auto_anchor = is_replayed(storm_conf)


class BatchBolt(_GuardedBolt, ABC):
    """Base of components that keep no state: each batch is worked off when it comes.

    Tuples of an epoch that was left are dropped, as their rows come again. Emits with `send`.
    """

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        """Start; subclasses call it first."""
        super().initialize(storm_conf, context)
        self._epoch = -1

    def process(self, tup: Any) -> None:
        """Work a batch off, unless its epoch is over."""
        came_us = now_us()
        header = Header.of(tup.values)
        if header.epoch >= self._epoch:
            self._epoch = header.epoch
            self.work(header, tup.values[_OWN:], came_us)

    @abstractmethod
    def work(self, header: Header, values: Sequence[Any], came_us: int) -> None:
        """Work a batch off.

        Args:
            header: The batch.
            values: The tuple's values behind the header.
            came_us: When it came, unix microseconds.
        """

    def send(self, header: Header, values: list[Any], stream: str | None = None) -> None:
        """Emit a tuple of the same batch."""
        self.emit(header.values + values, stream=stream)


class Arrived(NamedTuple):
    """One part of a batch: the tuple's id, when it came (unix microseconds), its values behind the header."""

    tuple_id: str
    came_us: int
    values: Sequence[Any]


class OrderedBolt(_GuardedBolt, ABC):
    """Base of components that keep state: batches are worked off whole, in the order of their rows.

    A task may have several shares, each a machine of its own with a state of its own. Subclasses say what a
    batch consists of (`parts`, known after `initialize`), with which state an epoch begins (`begin`), where a
    tuple belongs if not where its share and its component say (`place`), and do the work. Tuples are
    acknowledged when their batch is worked off, or nothing will come of them; emits (`send`) are anchored to
    the whole batch with replay. A batch that cannot be worked off fails, and its share waits for a new epoch,
    as its state may be half of something.
    """

    auto_ack = False
    auto_fail = False
    parts: Sequence[str]

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        """Start without batches; subclasses call it first."""
        super().initialize(storm_conf, context)
        self.auto_anchor = False
        self._shares: dict[int, OrderedBatches[Arrived]] = {}
        self._states: dict[int, Any] = {}
        self._anchors: list[str] = []

    def place(self, tup: Any) -> tuple[int, str]:
        """Return the share that a tuple is for, and which part of a batch it is: by default its component."""
        return tup.values[_OWN], tup.component

    @abstractmethod
    def begin(self, header: Header) -> Any:
        """Return the state of a share before this batch, the first one of an epoch."""

    @abstractmethod
    def work(self, share: int, state: Any, header: Header, parts: Mapping[str, Arrived]) -> None:
        """Work a batch off, the next one of its share.

        Args:
            share: The share.
            state: What `begin` returned for the epoch; the work changes it.
            header: The batch.
            parts: What came, by the part's name.
        """

    def process(self, tup: Any) -> None:
        """Take one part of a batch, and work off what is whole and next."""
        came_us = now_us()
        try:
            header = Header.of(tup.values)
            share, part = self.place(tup)
            batches = self._shares.get(share)
            if batches is None:
                batches = self._shares[share] = OrderedBatches(self.parts)
            batches.offer(header, Arrived(tup.id, came_us, tup.values[_OWN:]), part)
        except Exception:
            self.fail(tup.id)
            raise
        finally:
            self._ack_dropped()
        while (batch := batches.take()) is not None:
            self._work_off(share, batches, batch.header, batch.parts)

    def process_tick(self, tup: Any) -> None:
        """Do nothing; subclasses that use the time call it too."""
        self.ack(tup)

    def send(self, header: Header, values: list[Any], stream: str | None = None) -> None:
        """Emit a tuple of the batch in hand."""
        self.emit(header.values + values, stream=stream, anchors=self._anchors)

    def done(self, tuple_ids: list[str]) -> None:
        """Acknowledge the parts of a batch that is worked off; the last component does it later."""
        for tuple_id in tuple_ids:
            self.ack(tuple_id)

    def give_up(self, epoch: int) -> None:
        """Drop what is left of an epoch, as something of it is lost; the rows have to come in a new one."""
        for batches in self._shares.values():
            if batches.epoch == epoch:
                batches.spoil()
        self._ack_dropped()

    def _work_off(
        self, share: int, batches: OrderedBatches[Arrived], header: Header, parts: dict[str, Arrived]
    ) -> None:
        tuple_ids = [part.tuple_id for part in parts.values()]
        self._anchors = tuple_ids if self.replay else []
        try:
            if header.begins_epoch:
                self._states[share] = self.begin(header)
            self.work(share, self._states[share], header, parts)
        except Exception:
            batches.spoil()
            for tuple_id in tuple_ids:
                self.fail(tuple_id)
            self._ack_dropped()
            raise
        self.done(tuple_ids)

    def _ack_dropped(self) -> None:
        for batches in self._shares.values():
            for part in batches.take_dropped():
                self.ack(part.tuple_id)
