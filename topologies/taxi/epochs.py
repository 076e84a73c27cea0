"""The source's side of Redis: begins epochs, reads rows and watches progress, and never lets it wait."""

from __future__ import annotations

import json
import queue
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from topologies.batches.header import QueryStart, pack_queries
from topologies.redis_io.reader import Entry, read_group
from topologies.redis_io.resp import RedisConnection, RedisGoneError, RedisReplyError, Reply
from topologies.taxi.scripts import BEGIN

if TYPE_CHECKING:
    from collections.abc import Mapping

    from formats.semantics import Semantics
    from topologies.taxi.settings import TaxiSettings

_REPLIES_WAITING = 8
_RETRY_S = 1.0
_STOP_POLL_S = 0.2
_WATCH_S = 0.05
_SILENCE_S = 10.0  # Redis answers each request for rows after 2 s at the latest


@dataclass(frozen=True, slots=True)
class Began:
    """An epoch has begun; its rows come next.

    Attributes:
        epoch: Its number, milliseconds since 1970 or more.
        origin: The first row to send.
        queries: Where each query stands.
        known: The epoch that Redis knew before; less than the source's own last one: it has lost its data.
        sent: The highest row that any source has sent.
    """

    epoch: int
    origin: int
    queries: Mapping[str, QueryStart]
    known: int
    sent: int

    @property
    def packed(self) -> str:
        """The queries as a header has them."""
        return pack_queries(self.queries)


@dataclass(frozen=True, slots=True)
class Superseded:
    """Another source's epoch is the newest: this one gets no more rows."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """What went wrong; a new epoch is begun as soon as Redis lets it."""

    message: str


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the queries are.

    Attributes:
        epoch: The epoch that is right.
        seen: Last row that all queries have worked off in it.
    """

    epoch: int = 0
    seen: int = 0


News = Began | Superseded | Trouble | list[Entry]


class EpochReader:
    """Begins epochs and reads their rows in a thread.

    It begins one at its start, when it is asked to, and when the connection broke, as rows under way are lost
    then. A bounded number of replies waits to be taken; beyond, nothing more is asked for.

    Args:
        settings: Run and queries.
    """

    def __init__(self, settings: TaxiSettings) -> None:
        self._settings = settings
        self._ready: queue.Queue[tuple[int, News]] = queue.Queue(_REPLIES_WAITING)
        self._changed = threading.Condition()
        self._wanted = 1  # how many times an epoch was asked for; news of earlier ones are dropped
        self._known = (0, 0)
        self._yielding = False
        self._stopped = False
        self._connection: RedisConnection | None = None
        self._thread = threading.Thread(target=self._run, name="read rows", daemon=True)

    def start(self) -> None:
        """Begin the first epoch."""
        self._thread.start()

    def poll(self) -> News | None:
        """Return what came next, or None when nothing is there; never waits."""
        while True:
            try:
                wanted, news = self._ready.get_nowait()
            except queue.Empty:
                return None
            if wanted == self._wanted:
                return news

    def begin_again(self, epoch: int, sent: int, *, yielding: bool = False) -> None:
        """Begin a new epoch.

        Args:
            epoch: It has to be above this: the last one of this source, or more; 0: none.
            sent: The highest row that it has sent; 0: none.
            yielding: Whether to leave the rows to the source of the newest epoch, as `Superseded` says, when
                all that are there are worked off.
        """
        with self._changed:
            self._wanted += 1
            self._known = (epoch, sent)
            self._yielding = yielding
            self._close()
            self._changed.notify_all()

    def stop(self) -> None:
        """Stop reading and close the connection."""
        with self._changed:
            self._stopped = True
            self._wanted += 1
            self._close()
            self._changed.notify_all()
        self._thread.join()

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _run(self) -> None:
        while not self._stopped:
            wanted = self._wanted
            try:
                self._serve(wanted)
            except (RedisGoneError, RedisReplyError) as error:
                self._put(wanted, Trouble(f"reading rows: {error}; trying again every {_RETRY_S:g} s"))
                with self._changed:
                    self._changed.wait_for(lambda wanted=wanted: self._wanted != wanted, _RETRY_S)  # type: ignore[misc]

    def _serve(self, wanted: int) -> None:
        """Begin an epoch and read until another one is asked for."""
        connection = RedisConnection(self._settings.redis, _SILENCE_S)
        with self._changed:
            if self._wanted != wanted:
                connection.close()
                return
            self._connection = connection
            known, yielding = self._known, self._yielding
        rows = self._settings.run.rows
        epoch = 0
        try:
            began = _begin(connection, self._settings, *known, yielding=yielding)
            if began is None:
                self._rest(wanted)
                return
            epoch = began.epoch
            with self._changed:
                if self._wanted == wanted:  # it is this source's now, also when the connection breaks
                    self._yielding = False
                self._known = (max(epoch, self._known[0]), self._known[1])
            self._put(wanted, began)
            for entries in read_group(connection, rows, f"epoch-{epoch}"):
                self._put(wanted, entries)
        except (RedisGoneError, RedisReplyError):
            if self._wanted == wanted:
                if not epoch or self._epoch_now() <= epoch:
                    raise
                self._rest(wanted)
        finally:
            connection.close()

    def _rest(self, wanted: int) -> None:
        """Leave the rows to another source until an epoch is asked for."""
        self._put(wanted, Superseded())
        with self._changed:
            self._changed.wait_for(lambda: self._wanted != wanted)

    def _epoch_now(self) -> int:
        connection = RedisConnection(self._settings.redis, _SILENCE_S)
        try:
            return int(
                cast("bytes | None", connection.call("HGET", self._settings.run.progress, "epoch")) or 0
            )
        finally:
            connection.close()

    def _put(self, wanted: int, news: News) -> None:
        while self._wanted == wanted:
            try:
                self._ready.put((wanted, news), timeout=_STOP_POLL_S)
            except queue.Full:
                continue
            return


class ProgressWatch:
    """Asks Redis in a thread, twenty times a second, how far the queries are; writes how far the source is.

    It also notes how the queries are read, for comparisons of the results.

    Args:
        settings: Run and queries.
        semantics: The queries' choices.
    """

    def __init__(self, settings: TaxiSettings, semantics: Semantics) -> None:
        self._settings = settings
        self._semantics = json.dumps(semantics.document())
        self._progress = Progress()
        self._sent = self._written = (0, 0)
        self._fault: str | None = None
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="watch progress", daemon=True)

    @property
    def progress(self) -> Progress:
        """What Redis said last."""
        return self._progress

    def start(self) -> None:
        """Start to ask."""
        self._thread.start()

    def note_sent(self, row: int, again: int) -> None:
        """Let Redis know what was sent.

        Args:
            row: The highest row.
            again: How many rows this source has sent that had been sent before.
        """
        self._sent = (row, again)

    def note_fault(self, sentence: str) -> None:
        """Let who collects the results know why none come; empty: they do."""
        self._fault = sentence

    def stop(self) -> None:
        """Stop asking."""
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopped.is_set():
            try:
                self._watch()
            except (RedisGoneError, RedisReplyError):
                # the reader of rows reports it; what Redis said last stands until it answers again
                self._stopped.wait(_RETRY_S)

    def _watch(self) -> None:
        connection = RedisConnection(self._settings.redis, _SILENCE_S)
        key, queries = self._settings.run.progress, self._settings.queries
        written_fault: str | None = None
        try:
            connection.call("HSET", key, "semantics", self._semantics)
            while not self._stopped.wait(_WATCH_S):
                fields = ("epoch", *(f"seen:{query}" for query in queries))
                reply = cast("list[bytes | None]", connection.call("HMGET", key, *fields))
                epoch, *seen = (int(value or 0) for value in reply)
                self._progress = Progress(epoch, min(seen))
                row, again = self._sent
                if row > self._written[0]:
                    connection.call("HSET", key, "sent", row)
                if again > self._written[1]:
                    connection.call("HINCRBY", key, "replayed", again - self._written[1])
                self._written = (row, again)
                if self._fault != written_fault:
                    written_fault = self._fault
                    if written_fault:
                        connection.call("HSET", key, "fault", written_fault)
                    else:
                        connection.call("HDEL", key, "fault")
        finally:
            connection.close()


def _begin(
    connection: RedisConnection, settings: TaxiSettings, epoch: int, sent: int, *, yielding: bool
) -> Began | None:
    keys = (settings.run.rows, settings.run.progress)
    reply = connection.call("EVAL", BEGIN, len(keys), *keys, epoch, sent, int(yielding), *settings.queries)
    if reply is None:
        return None
    known, began, origin, queries, highest = cast("tuple[int, bytes, bytes, list[list[Reply]], int]", reply)
    starts = {}
    for each in queries:
        name, start, clock, released = (part.decode() for part in cast("list[bytes]", each))
        starts[name] = QueryStart(int(start), None if clock == "-" else int(clock), int(released))
    return Began(int(began), int(origin), starts, known, highest)
