"""Base of the last components: results to Redis, each batch exactly once."""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections import deque
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from topologies.batches.bolt import OrderedBolt
from topologies.batches.clock import Account, Ticks
from topologies.batches.header import Header
from topologies.moments import now_us
from topologies.redis_io.resp import encode_command
from topologies.redis_io.writer import CommandWriter, WriteLostError
from topologies.taxi.challenge import output_row
from topologies.taxi.components.configured import Configured
from topologies.taxi.instants import Instants
from topologies.taxi.scripts import RELEASE
from topologies.taxi.settings import TaxiSettings
from topologies.taxi.tops import TOP, changes_of
from topologies.taxi.trail import extend, latest, split_trail

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from topologies.batches.bolt import Arrived
    from topologies.taxi.tops import Change, ShareTop, TopMerge

_STALE = "STALE"
_SHA1 = hashlib.sha1(RELEASE.encode(), usedforsecurity=False).hexdigest()


class _Sent(NamedTuple):
    epoch: int
    tuple_ids: list[str]


class _Standing(NamedTuple):
    merge: TopMerge[Any]
    instants: Instants


class ResultsBolt(Configured, OrderedBolt):
    """Base of globalRank and globalAreaRank: takes a batch from all shares, and writes what it says.

    A tuple is the header, `share`, `trail`, and of the first share the clock's `ticks` and `account`, then
    the share's text.

    Redis refuses a batch that does not follow the last one written, and every batch of an epoch that is
    over. With replay a batch is acknowledged when Redis has taken it, and fails when that is in doubt;
    without, the source notices that nothing is released any more. Each fault is reported once, until a batch
    is taken again.

    Attributes:
        query: The query.
        values: How many values a rank has in an output row.
        rank_text: Returns the values of a rank, joined by commas.
        state_text: Returns the best as compact JSON.
    """

    outputs: ClassVar[list[str]] = []
    config: ClassVar = {"topology.tick.tuple.freq.secs": 1}
    query: ClassVar[str]
    values: ClassVar[int]
    rank_text: Callable[[Any], str]
    state_text: Callable[[Any], str]

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        """Start without a state; Redis is connected to at the first batch. Subclasses call it first."""
        super().initialize(storm_conf, context)
        self._settings = TaxiSettings.from_conf(storm_conf)
        self._nulls = self.values if self.semantics.nulls == "per-cell" else 1
        self.parts = tuple(str(share) for share in range(self.shares))
        self._writer = CommandWriter(
            self._settings.redis,
            self._taken,
            encode_command("SCRIPT", "LOAD", RELEASE),
        )
        self._sent: dict[int, _Sent] = {}
        self._tag = 0
        self._outage = False

    @abstractmethod
    def merge(self) -> TopMerge[Any]:
        """Return what merges the shares' tops."""

    @abstractmethod
    def read(self, text: str) -> Iterable[ShareTop]:
        """Return what a share sent as its text, in order of the rows."""

    def place(self, tup: Any) -> tuple[int, str]:
        """Return that there is one share here, of which each earlier share sends a part."""
        return 0, str(tup.values[len(Header.FIELDS)])

    def begin(self, header: Header) -> _Standing:
        """Return a merge without ranks, and the instants from the clock before the query's start."""
        return _Standing(self.merge(), Instants(header.query(self.query).clock_s))

    def work(self, share: int, state: _Standing, header: Header, parts: Mapping[str, Arrived]) -> None:  # noqa: ARG002 - there is one
        """Write what one batch says, or only that it was worked off when that is written already."""
        self._look_at_refusals()
        result: dict[str, str | int] = {}
        rebuild: tuple[str | int, ...] = ()
        if header.serves(self.query):
            first = parts[self.parts[0]]
            ticks, account = Ticks.decode(first.values[2]), Account.decode(first.values[3])
            changes = changes_of(self.read(parts[name].values[4]) for name in self.parts)
            answers = self._answers(state.merge, changes, state.instants.over(ticks, account))
            if not header.is_released(self.query):
                trail = latest(extend(part.values[1], part.came_us) for part in parts.values())
                result = _result(header, account, trail) | answers
                clock_s = account.rebuild.clock_s
                rebuild = (account.rebuild.entry, account.rebuild.n, "-" if clock_s is None else clock_s)
        self._write(header, rebuild, result, [part.tuple_id for part in parts.values()])

    def process_tick(self, tup: Any) -> None:
        """Notice a Redis that went away, or refused something, in a quiet time."""
        super().process_tick(tup)
        self._look_at_refusals()
        try:
            self._writer.check()
        except WriteLostError as error:
            self._note_lost(error)

    def done(self, tuple_ids: list[str]) -> None:
        """Acknowledge a batch, with replay only when Redis has taken it."""
        if not self.replay:
            super().done(tuple_ids)

    def _answers(
        self, merge: TopMerge[Any], changes: Iterable[Change], over: Iterable[tuple[int, int, int]]
    ) -> dict[str, str | int]:
        """Return what a batch adds, as lines.

        Returns:
            `tops`: `n row`, output rows of the challenge with the row that caused them; `states`: `n time
            state`, ranks after each instant that is over, before the rows of the next one, with its last row.
        """
        tops: list[str] = []
        states: list[str] = []
        instants = deque(over)

        def add_state(_: int, last: int, time_s: int) -> None:
            states.append(f"{last} {time_s} {self.state_text(merge.best)}")

        for change in changes:
            while instants and instants[0][0] <= change.n:
                add_state(*instants.popleft())
            if merge.update(change.tops):
                ranks = [self.rank_text(each) for each in merge.best[:TOP]]
                tops.append(f"{change.n} {output_row(change.pickup_s, change.time_s, ranks, self._nulls)}")
        for instant in instants:
            add_state(*instant)
        return {"tops": "\n".join(tops), "states": "\n".join(states)}

    def _write(
        self,
        header: Header,
        rebuild: tuple[str | int, ...],
        result: Mapping[str, str | int],
        tuple_ids: list[str],
    ) -> None:
        self._tag += 1
        self._sent[self._tag] = _Sent(header.epoch, tuple_ids)
        run = self._settings.run
        command = encode_command(
            *("EVALSHA", _SHA1, 2, run.progress, run.results_of(self.query)),
            *(self.query, header.epoch, header.first, header.next - 1, *rebuild),
            *(part for pair in result.items() for part in pair),
        )
        try:
            self._writer.send(command, self._tag)
        except WriteLostError as error:
            self._note_lost(error)

    def _taken(self, tag: int) -> None:
        """Note that Redis has taken a batch; runs in the writer's thread."""
        sent = self._sent.pop(tag)
        self._outage = False
        if self.replay:
            super().done(sent.tuple_ids)
            self.serializer.flush()

    def _look_at_refusals(self) -> None:
        while self._writer.refused:
            tag, reason = self._writer.refused.popleft()
            sent = self._sent.pop(tag)
            if reason.startswith(_STALE):
                if self.replay:
                    super().done(sent.tuple_ids)  # its rows come again anyway
            else:
                self._give_up(sent, f"Redis refused results: {reason}")

    def _note_lost(self, error: WriteLostError) -> None:
        for tag in error.tags:
            self._give_up(self._sent.pop(tag), str(error))

    def _give_up(self, sent: _Sent, reason: str) -> None:
        """Let a batch come again in a new epoch, as what follows it in this one would be refused."""
        self.give_up(sent.epoch)
        if self.replay:
            for tuple_id in sent.tuple_ids:
                self.fail(tuple_id)
        if not self._outage:
            self.report_error(f"{reason}; rows without a result come again in a new epoch")
        self._outage = True


def _result(header: Header, account: Account, trail: str) -> dict[str, str | int]:
    """Return the fields of an entry of the results but for the answers."""
    emit_us, stamps = split_trail(trail)
    available = [entry.split(" ") for entry in account.entries.split(";")]
    fields: dict[str, str | int] = {
        "first": header.first,
        "next": header.next,
        "passed": account.passed,
        "rejected": account.rejected,
        "available": ";".join(f"{n} {identity.partition('-')[0]}" for n, identity in available),
        "emit_us": emit_us,
        "trail": stamps,
        "done_us": now_us(),
    }
    if account.end:
        fields["end"] = 1
    return fields
