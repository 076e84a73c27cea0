"""Redis, simulated: the rows, what the scripts keep, the results, connections of sources and sinks."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from topologies.batches.header import QueryStart
from topologies.redis_io.reader import Entry
from topologies.redis_io.writer import WriteLostError
from topologies.taxi.epochs import Began, News, Progress, Superseded

if TYPE_CHECKING:
    import random
    from collections.abc import Callable


def arguments(command: bytes) -> list[str]:
    """The arguments of an encoded command."""
    parts, rest = [], command[command.index(b"\r\n") + 2 :]
    while rest:
        size, _, rest = rest.partition(b"\r\n")
        length = int(size[1:])
        parts.append(rest[:length].decode())
        rest = rest[length + 2 :]
    return parts


class Kept(NamedTuple):
    """A snapshot: the hash of progress, and the results by query."""

    progress: dict[str, str]
    results: dict[str, list[tuple[str, dict[str, str]]]]


class Redis:
    """The rows, what the scripts keep, the results, and the connections of sources and sinks."""

    def __init__(self, queries: tuple[str, ...]) -> None:
        self.queries = queries
        self.rows: list[Entry] = []
        self.progress: dict[str, str] = {}
        self.results: dict[str, list[tuple[str, dict[str, str]]]] = {query: [] for query in queries}
        self.writers: dict[int, deque[tuple[list[str], int, Any]]] = {}
        self.now_s = 0.0
        self.clock_ahead_s = 0.0
        self.begun = 0

    def feed(self, lines: list[str], chance: random.Random, most: int = 7) -> None:
        n = 1
        while n <= len(lines):
            some = lines[n - 1 : n - 1 + chance.randint(1, most)]
            self.rows.append(Entry(f"{1000 + n}-0", {"n": str(n), "lines": "\n".join(some)}))
            n += len(some)
        self.rows.append(Entry(f"{1000 + n}-0", {"n": str(n), "end": "1"}))

    @property
    def ended(self) -> bool:
        return all(entries and "end" in entries[-1][1] for entries in self.results.values())

    @property
    def is_idle(self) -> bool:
        """Whether all rows are worked off."""
        n, lines = int(self.rows[-1].fields["n"]), self.rows[-1].fields.get("lines", "")
        return n + lines.count("\n") <= min(int(self.progress[f"seen:{query}"]) for query in self.queries)

    def begin(self, epoch: int, sent: int) -> Began:
        known = int(self.progress.get("epoch", 0))
        starts = {}
        for query in self.queries:
            clock = self.progress.get(f"rebuild_clock:{query}", "-")
            start = int(self.progress.get(f"rebuild_n:{query}", 1))
            released = int(self.progress.get(f"released:{query}", 0))
            starts[query] = QueryStart(start, None if clock == "-" else int(clock), released)
        origin = min(each.start for each in starts.values())
        number = max(known + 1, epoch + 1, int(1000 * (self.now_s + self.clock_ahead_s)))
        began = Began(number, origin, starts, known, max(sent, int(self.progress.get("sent", 0))))
        self.progress |= {f"seen:{query}": str(origin - 1) for query in self.queries}
        self.progress |= {"epoch": str(began.epoch), "sent": str(began.sent)}
        self.begun += 1
        return began

    def kept(self) -> Kept:
        """What a snapshot holds; the rows are fed before it."""
        return Kept(dict(self.progress), {query: list(each) for query, each in self.results.items()})

    def restore(self, kept: Kept) -> None:
        """Come back with an older state, which breaks all connections."""
        self.progress = dict(kept.progress)
        self.results = {query: list(each) for query, each in kept.results.items()}
        self.cut = {writer for writer, queue in self.writers.items() if queue}

    def release(self, command: list[str]) -> str | None:
        """What the script does; the reason when it refuses."""
        _, _, _, _, _, query, epoch, first, last, *more = command
        if self.progress.get("epoch") != epoch:
            return f"STALE epoch {epoch} is over"
        if more:
            if int(self.progress.get(f"released:{query}", 0)) + 1 != int(first):
                return "GAP"
            entry, n, clock, *fields = more
            values = dict(zip(fields[::2], fields[1::2], strict=True))
            self.results[query].append((f"{int(self.now_s * 1000)}-{len(self.results[query])}", values))
            self.progress |= {f"released:{query}": last, f"rebuild_id:{query}": entry}
            self.progress |= {f"rebuild_n:{query}": n, f"rebuild_clock:{query}": clock}
        self.progress[f"seen:{query}"] = last
        return None

    def answer(self, writer: int) -> None:
        command, tag, (taken, refused) = self.writers[writer].popleft()
        reason = self.release(command)
        if reason is None:
            taken(tag)
        else:
            refused.append((tag, reason))

    def reader(self, *_: Any) -> Any:
        redis = self

        class Reader:
            def start(self) -> None:
                self.begin_again(0, 0)

            began: Began | None = None
            epoch = 0

            def begin_again(self, epoch: int, sent: int, *, yielding: bool = False) -> None:
                self.announced = False
                if yielding and redis.is_idle:
                    return
                self.began = redis.begin(epoch, sent)
                self.epoch = self.began.epoch
                rebuild = {redis.progress.get(f"rebuild_id:{query}") for query in redis.queries}
                ids = [each.id for each in redis.rows]
                self.at = min(0 if each is None else ids.index(each) for each in rebuild)

            def poll(self) -> News | None:
                if self.began is not None:
                    began, self.began = self.began, None
                    return began
                if redis.progress["epoch"] != str(self.epoch):
                    superseded = None if self.announced else Superseded()
                    self.announced = True
                    return superseded
                entries = redis.rows[self.at : self.at + redis.chance.randint(0, 2)]
                self.at += len(entries)
                return entries or None

        return Reader()

    def watch(self, *_: Any) -> Any:
        redis = self

        class Watch:
            def start(self) -> None:
                pass

            def note_sent(self, row: int, again: int) -> None:
                pass

            def note_fault(self, sentence: str) -> None:
                pass

            @property
            def progress(self) -> Progress:
                seen = min(int(redis.progress.get(f"seen:{query}", 0)) for query in redis.queries)
                return Progress(int(redis.progress.get("epoch", 0)), seen)

        return Watch()

    def writer(self, _: Any, taken: Callable[[int], None], *__: Any) -> Any:
        redis = self
        identity = len(self.writers)
        self.writers[identity] = deque()

        class Writer:
            refused: ClassVar[deque[tuple[int, str]]] = deque()

            def send(self, command: bytes, tag: int) -> None:
                redis.writers[identity].append((arguments(command), tag, (taken, self.refused)))
                self.check()

            def check(self) -> None:
                if identity in redis.cut:
                    redis.cut.remove(identity)
                    tags = tuple(tag for _, tag, _ in redis.writers[identity])
                    redis.writers[identity].clear()
                    raise WriteLostError("cut", tags)

        return Writer()

    chance: random.Random
    cut: set[int]
