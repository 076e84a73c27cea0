"""Takes a run's results out of Redis into files."""

from __future__ import annotations

import csv
import json
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TextIO, cast

from topologies.taxi.keys import REPLAYED
from topologies.taxi.progress import FirstTimes
from topologies.taxi.run_summary import Summary, broken_off, completed
from topologies.taxi.trail import STAMPS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from redis import Redis

    from topologies.taxi.keys import Run

_PAGE = 1_000
_BLOCK_MS = 500
_DROPOFF_COLUMN = 3
RESULT_COLUMNS = ("n", "row_ms", "emit_us", "done_us", "result_ms", "paced")

StreamEntry = tuple[str, dict[str, str]]


class CollectError(Exception):
    """Results cannot be collected; the message is one sentence."""


@dataclass(frozen=True, slots=True)
class CollectProgress:
    """Where collecting stands: results so far, and rows of the plan (0 when not known yet)."""

    results: int
    rows: int


class Collector:
    """Waits for a run's end, as long as new results come, and writes its files.

    Args:
        redis: Client with decoded responses.
        run: The run.
        timeout_s: Longest time without a new result, seconds.
        report: Called after each batch of results.
    """

    def __init__(
        self, redis: Redis, run: Run, timeout_s: float, report: Callable[[CollectProgress], None]
    ) -> None:
        self._redis = redis
        self._run = run
        self._timeout_s = timeout_s
        self._report = report

    def collect(self, out: Path) -> Summary:
        """Write `results.csv`, `trails.csv`, `tops.csv`, `states.jsonl` and `summary.json` to a folder.

        The files appear together at the end; before, nothing is changed there. A run that does not come to
        its end, as when a row is never done, has its files too; that is a fault.

        Args:
            out: The folder; made when it does not exist.

        Raises:
            CollectError: There is no result at all, or one is of no row.
        """
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=out, prefix=".collecting-") as name:
            folder = Path(name)
            summary = self._write(folder)
            document = {"run": self._run.id} | {
                field: getattr(summary, field) for field in Summary.__dataclass_fields__
            }
            (folder / "summary.json").write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
            for file in sorted(folder.iterdir()):
                file.replace(out / file.name)
        return summary

    def _write(self, folder: Path) -> Summary:
        rows = _RowCursor(self._redis, self._run.rows)
        with (
            (folder / "results.csv").open("w", encoding="utf-8", newline="") as results,
            (folder / "trails.csv").open("w", encoding="utf-8", newline="") as trails,
            (folder / "tops.csv").open("w", encoding="utf-8") as tops,
            (folder / "states.jsonl").open("w", encoding="utf-8") as states,
        ):
            sheet = _Sheet(results, trails, tops, states)
            final: dict[str, str] | None = None
            for identity, fields in self._entries(sheet):
                if "end" in fields:
                    final = fields
                    break
                if not sheet.fast_rows_known:
                    sheet.set_fast_rows(self._plan("fast_rows"))
                number = int(fields["n"])
                if not sheet.answered.see(number):
                    sheet.repeated += 1
                    continue
                row = rows.find(number)
                if row is None:
                    msg = f"run {self._run.id}: result {identity} is of row {number}, which is not in Redis"
                    raise CollectError(msg)
                sheet.add(identity, fields, *row)
        if final is not None:
            return completed(self._known(sheet), final)
        if sheet.results:
            return broken_off(self._known(sheet), self._timeout_s)
        msg = (
            f"run {self._run.id}: no result for {self._timeout_s:g} s and no final entry: "
            "does a topology serve this run, and something feed it?"
        )
        raise CollectError(msg)

    def _known(self, sheet: _Sheet) -> Summary:
        """Return what is known without the final entry."""
        return Summary(
            rows=self._fed(),
            passed=None,
            rejected=None,
            reasons={},
            results=sheet.results,
            tops=sheet.tops,
            repeated=sheet.repeated,
            began={},
            replayed=int(cast("str | None", self._redis.hget(self._run.source, REPLAYED)) or 0),
            fast_rows=int(self._plan("fast_rows")),
            rate_per_s=self._plan("rate_per_s"),
            faults=(),
        )

    def _fed(self) -> int:
        """Return the rows that are in Redis."""
        newest = cast("list[StreamEntry]", self._redis.xrevrange(self._run.rows, count=1))
        return int(newest[0][1]["n"]) - ("end" in newest[0][1]) if newest else 0

    def _plan(self, key: str) -> float:
        return float(cast("str | None", self._redis.hget(self._run.feed, key)) or 0)

    def _entries(self, sheet: _Sheet) -> Iterator[StreamEntry]:
        """Yield the entries of the results stream from its start, waiting for more.

        It ends when the rows that have a result have not become more for a while: a row that comes again and
        again is no progress.
        """
        after = "0"
        seen = 0
        quiet_since_s = time.monotonic()
        while True:
            reply = self._redis.xread({self._run.results: after}, count=_PAGE, block=_BLOCK_MS)
            for _, entries in cast("list[tuple[str, list[StreamEntry]]]", reply):
                for entry in entries:
                    yield entry
                    after = entry[0]
            now_s = time.monotonic()
            if sheet.results > seen:
                seen = sheet.results
                quiet_since_s = now_s
                self._report(CollectProgress(seen, int(self._plan("fast_rows") + self._plan("paced_rows"))))
            elif now_s - quiet_since_s > self._timeout_s:
                return


class _Sheet:
    """The open files of a run."""

    def __init__(self, results: TextIO, trails: TextIO, tops: TextIO, states: TextIO) -> None:
        self._results = csv.writer(results, lineterminator="\n")
        self._results.writerow(RESULT_COLUMNS)
        self._trails = csv.writer(trails, lineterminator="\n")
        self._trails.writerow(("n", *(f"{stamp}_us" for stamp in STAMPS)))
        self._tops = tops
        self._states = states
        self._fast_rows = 0.0
        self.fast_rows_known = False
        self.results = 0
        self.tops = 0
        self.repeated = 0
        self.answered = FirstTimes()

    def set_fast_rows(self, rows: float) -> None:
        self._fast_rows = rows
        self.fast_rows_known = True

    def add(self, identity: str, fields: dict[str, str], row_ms: int, dropoff: str) -> None:
        number = int(fields["n"])
        result_ms = int(identity.split("-", maxsplit=1)[0])
        paced = int(number > self._fast_rows)
        self._results.writerow([number, row_ms, fields["emit_us"], fields["done_us"], result_ms, paced])
        self._trails.writerow([number, *fields["trail"].split(" ")])
        if "top" in fields:
            self._tops.write(fields["top"] + "\n")
            self.tops += 1
        state = fields["state"]  # JSON already
        self._states.write(f'{{"n":{number},"dropoff":{json.dumps(dropoff)},"state":{state}}}\n')
        self.results += 1


class _RowCursor:
    """Walks along the rows stream beside the results, a page at a time, and keeps rows without a result."""

    def __init__(self, redis: Redis, stream: str) -> None:
        self._redis = redis
        self._stream = stream
        self._rows = self._walk()
        self._passed_over: dict[int, StreamEntry] = {}

    def find(self, number: int) -> tuple[int, str] | None:
        """Return availability time (ms) and drop-off of a row, which is asked for once."""
        while number not in self._passed_over:
            entry = next(self._rows, None)
            if entry is None:
                return None
            self._passed_over[int(entry[1]["n"])] = entry
        identity, fields = self._passed_over.pop(number)
        return int(identity.split("-")[0]), fields["line"].split(",")[_DROPOFF_COLUMN]

    def _walk(self) -> Iterator[StreamEntry]:
        after = "-"
        while page := cast("list[StreamEntry]", self._redis.xrange(self._stream, min=after, count=_PAGE)):
            yield from page
            after = f"({page[-1][0]}"
