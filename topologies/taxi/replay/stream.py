"""A run's rows in Redis, written by one feeder at a time, each batch exactly once."""

from __future__ import annotations

import uuid
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, cast

from topologies.taxi.keys import QUERIES
from topologies.taxi.replay.errors import FeedError
from topologies.taxi.replay.feed_scripts import APPEND, BEGIN, END, TAKE_OVER

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from redis import Redis

    from topologies.taxi.keys import Run


@dataclass(frozen=True, slots=True)
class Released:
    """How far the topology is.

    Attributes:
        row: Last row whose results every served query has written.
        rebuild_id: Oldest entry that some served query may need again; None: not known of all of them.
    """

    row: int = 0
    rebuild_id: tuple[int, int] | None = None

    @classmethod
    def read(cls, progress: Mapping[str, str]) -> Self:
        """Read the hash `progress`; a query is served when it has any field there."""
        served = [query for query in QUERIES if any(key.endswith(f":{query}") for key in progress)]
        row = min((int(progress.get(f"released:{query}", 0)) for query in served), default=0)
        ids = [progress.get(f"rebuild_id:{query}", "") for query in served]
        known = bool(ids) and all("-" in each for each in ids)
        return cls(row, min(map(_entry_id, ids)) if known else None)


@dataclass(frozen=True, slots=True)
class Standing:
    """What a run's rows have come to.

    Attributes:
        fed: Rows in the stream, those that were trimmed included.
        ended: Whether the end was written.
        feed: The hash `feed`.
    """

    fed: int
    ended: bool
    feed: dict[str, str]

    @property
    def crc(self) -> int:
        """Checksum of all lines."""
        return int(self.feed.get("crc", 0))


class RunStream:
    """Writes the rows of one run.

    Args:
        redis: Client near Redis; it must not retry for long by itself.
        run: The run.
    """

    def __init__(self, redis: Redis, run: Run) -> None:
        self._redis = redis
        self._run = run
        self._keys = [run.rows, run.feed, run.progress]
        self._token = uuid.uuid4().hex
        self._begin, self._take_over = redis.register_script(BEGIN), redis.register_script(TAKE_OVER)
        self._append, self._end = redis.register_script(APPEND), redis.register_script(END)
        self._trimmed: tuple[int, int] | None = None

    def standing(self) -> Standing | None:
        """Return what the run has come to; None: it has no rows.

        Raises:
            FeedError: The stream and what is kept about it do not agree.
        """
        # at once: another process may be feeding the run
        both = self._redis.pipeline(transaction=True)
        both.xrevrange(self._run.rows, count=1)
        both.hgetall(self._run.feed)
        last, kept = cast("tuple[list[tuple[Any, dict[Any, Any]]], dict[Any, Any]]", both.execute())
        if not last:
            return None
        entry = {_text(key): value for key, value in last[0][1].items()}
        feed = _texts(kept)
        ended = "end" in entry
        fed = int(entry.get("n", 0)) - 1
        if not ended:
            lines = entry.get("lines", b"")
            fed += 1 + (lines.count(b"\n") if isinstance(lines, bytes) else lines.count("\n"))
        if feed.get("fed") != str(fed):
            msg = f"run {self._run.id}: its last entry ends with row {fed}, noted was row {feed.get('fed')}"
            raise FeedError(msg)
        return Standing(fed, ended, feed)

    def begin(self, fields: Mapping[str, str]) -> None:
        """Begin a run.

        Args:
            fields: What is kept in the hash `feed`.

        Raises:
            FeedError: It has rows.
        """
        if _text(self._begin(keys=self._keys, args=[self._token, *_flat(fields)])) != "ok":
            run = self._run.id
            msg = f"run {run} has rows already: choose another run id, or go on with `taxi replay --resume`"
            raise FeedError(msg)

    def take_over(self, standing: Standing, fields: Mapping[str, str]) -> None:
        """Go on with a run; its feeder so far is refused from then on.

        Raises:
            FeedError: Rows have come since.
        """
        answer = self._take_over(keys=self._keys, args=[self._token, standing.fed, *_flat(fields)])
        if _text(answer) != "ok":
            raise FeedError(f"run {self._run.id} is being fed by another process just now")

    def append(
        self,
        fed: int,
        lines: list[bytes],
        crc: int,
        *,
        settled: Mapping[str, int],
        grown: Mapping[str, int],
    ) -> Released:
        """Append lines as one entry, if they are not there yet.

        Args:
            fed: Rows before them.
            lines: The lines.
            crc: Checksum of all lines up to these.
            settled: Fields of `feed` and what they become.
            grown: Fields of `feed` and by how much each grows.

        Raises:
            FeedError: The stream is not as this feeder left it.
        """
        after = fed + len(lines)
        args: list[str | int | bytes] = [
            self._token,
            fed,
            after,
            fed + 1,
            b"\n".join(lines),
            crc,
            len(settled),
            *_flat(settled),
            *_flat(grown),
        ]
        return self._answer(self._append(keys=self._keys, args=args), fed)

    def end(self, fed: int) -> Released:
        """Write the end, if it is not there yet; raises as `append`."""
        return self._answer(self._end(keys=self._keys, args=[self._token, fed, fed + 1]), fed)

    def note(self, field: str, value: str) -> None:
        """Keep something in the hash `feed`."""
        self._redis.hset(self._run.feed, field, value)

    def released(self) -> Released:
        """Ask how far the topology is."""
        return Released.read(_texts(cast("dict[Any, Any]", self._redis.hgetall(self._run.progress))))

    def trim(self, released: Released) -> None:
        """Remove the entries that no query needs any more; the last one always stays."""
        oldest = released.rebuild_id
        if oldest is None or oldest == self._trimmed:
            return
        last = cast("list[tuple[Any, Any]]", self._redis.xrevrange(self._run.rows, count=1))
        if last:
            oldest = min(oldest, _entry_id(_text(last[0][0])))
            self._redis.xtrim(self._run.rows, minid=f"{oldest[0]}-{oldest[1]}", approximate=True)
            self._trimmed = released.rebuild_id

    def _answer(self, answer: list[Any], fed: int) -> Released:
        said = _text(answer[0])
        run = self._run.id
        if said == "ok":
            flat = [_text(each) for each in answer[1]]
            return Released.read(dict(zip(flat[::2], flat[1::2], strict=True)))
        if said == "taken":
            msg = f"run {run} is being fed by another process, which has taken over after row {fed} or before"
        elif said == "gone":
            msg = (
                f"run {run} is gone from Redis, with its {fed} rows: it was deleted, or Redis began anew "
                "without its data"
            )
        else:
            msg = (
                f"run {run}: Redis has come back with {_text(answer[1])} of {fed} rows, from an older state "
                "of its data: `taxi replay --resume` goes on"
            )
        raise FeedError(msg)


def add_to_crc(lines: list[bytes], crc: int) -> int:
    """Return the checksum of all lines so far, each with a line feed, however they were grouped."""
    return zlib.crc32(b"\n", zlib.crc32(b"\n".join(lines), crc)) if lines else crc


def _entry_id(text: str) -> tuple[int, int]:
    milliseconds, _, number = text.partition("-")
    return int(milliseconds), int(number)


def _text(value: bytes | str) -> str:
    return value.decode() if isinstance(value, bytes) else value


def _texts(fields: Mapping[Any, Any]) -> dict[str, str]:
    return {_text(key): _text(value) for key, value in fields.items()}


def _flat(fields: Mapping[str, str] | Mapping[str, int]) -> list[str | int | bytes]:
    pairs: Iterable[tuple[str, str | int]] = fields.items()
    return [part for pair in pairs for part in pair]
