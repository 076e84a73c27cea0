"""Takes a run's results out of Redis into files."""

from __future__ import annotations

import json
import time
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, cast

from topologies.collecting import CollectError, follow, result_folder
from topologies.taxi.keys import QUERIES
from topologies.taxi.run_files import RunFiles

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from redis import Redis

    from topologies.taxi.keys import Run

_PAGE = 200
_WAIT_S = 0.1


@dataclass(frozen=True, slots=True)
class Summary:
    """What a run came to for one query.

    Attributes:
        run: Id of the run.
        query: The query, `1` or `2`.
        rows: Rows fed.
        passed: Rows that count; None without the run's end, as not all rows are judged then.
        rejected: Rows turned away; None likewise.
        reasons: Rows turned away, by reason.
        results: Rows that count and are in the files.
        tops: Changes of the ten best.
        instants: Drop-off instants with a state.
        epochs: How many times the source began or began again.
        replayed: Rows that were sent again, to rebuild windows or after a loss.
        fast_rows: Rows before the paced ones.
        rate_per_s: Rate of the paced rows; 0 when there were none.
        semantics: How the query was read, each choice by its name.
        faults: Sentences on what is missing or wrong; none in a good run.
    """

    run: str
    query: str
    rows: int
    passed: int | None
    rejected: int | None
    reasons: dict[str, int]
    results: int
    tops: int
    instants: int
    epochs: int
    replayed: int
    fast_rows: int
    rate_per_s: float
    semantics: dict[str, str]
    faults: tuple[str, ...]


class TaxiCollector:
    """Waits for a run's end, as long as new results come, and writes its files.

    Args:
        redis: Client with decoded responses.
        run: The run.
        timeout_s: Longest time without a new result, seconds.
        report: Called now and then with rows that have results, and rows of the plan (0: not known yet).
    """

    def __init__(self, redis: Redis, run: Run, timeout_s: float, report: Callable[[int, int], None]) -> None:
        self._redis = redis
        self._run = run
        self._timeout_s = timeout_s
        self._report = report

    def collect(self, out: Path) -> tuple[Summary, ...]:
        """Write the files of each query that the run serves, those of query 2 to the folder `query2`.

        The files appear together at the end; before, nothing is changed there. A run that does not come to
        its end has its files too; that is a fault.

        Args:
            out: The folder; made when it does not exist.

        Returns:
            What the run came to, by query.

        Raises:
            CollectError: There is no result at all.
        """
        with result_folder(out) as folder:
            summaries = self._write(folder)
            for summary in summaries:
                own = folder / _folder(summary.query)
                text = json.dumps(asdict(summary), indent=2) + "\n"
                (own / "summary.json").write_text(text, encoding="utf-8")
        return summaries

    def _write(self, folder: Path) -> tuple[Summary, ...]:
        queries = self._await_queries()
        with ExitStack() as stack:
            files: dict[str, RunFiles] = {}
            for query in queries:
                (folder / _folder(query)).mkdir(exist_ok=True)
                files[query] = stack.enter_context(RunFiles(folder / _folder(query), query))
            self._fill(files)
        if not any(each.next > 1 for each in files.values()):
            raise CollectError(self._nothing())
        return tuple(self._summary(query, each) for query, each in files.items())

    def _await_queries(self) -> tuple[str, ...]:
        """Return the queries that the run serves, once a topology has begun."""
        end_s = time.monotonic() + self._timeout_s
        while True:
            progress = cast("dict[str, str]", self._redis.hgetall(self._run.progress))
            queries = tuple(query for query in QUERIES if f"seen:{query}" in progress)
            if queries:
                return queries
            if time.monotonic() > end_s:
                raise CollectError(self._nothing())
            time.sleep(_WAIT_S)

    def _fill(self, files: Mapping[str, RunFiles]) -> None:
        """Add the entries of the queries' results, until all have ended or nothing comes."""
        by_stream = {self._run.results_of(query): each for query, each in files.items()}
        for entries in follow(self._redis, by_stream, _PAGE, self._timeout_s):
            # asked after the results: rows that are in them were counted by the feeder before
            fast_rows = int(self._plan("fast_rows"))
            for stream, (identity, fields) in entries:
                by_stream[stream].fast_rows = fast_rows
                by_stream[stream].add(identity, fields)
            done = min(each.next for each in files.values()) - 1
            self._report(done, int(fast_rows + self._plan("paced_rows")))
            if all(each.ended for each in files.values()):
                return

    def _summary(self, query: str, files: RunFiles) -> Summary:
        progress = cast("dict[str, str]", self._redis.hgetall(self._run.progress))
        faults = list(files.faults)
        if not files.ended:
            faults.append(
                f"no final entry: nothing new for {self._timeout_s:g} s after row {files.next - 1}; "
                + (self._reason() or "the topology makes no progress, or nothing feeds the run")
            )
        rejected = files.rejected.total()
        return Summary(
            run=self._run.id,
            query=query,
            rows=files.next - 2 if files.ended else int(self._plan("fed")),
            passed=files.results if files.ended else None,
            rejected=rejected if files.ended else None,
            reasons=dict(sorted(files.rejected.items())),
            results=files.results,
            tops=files.tops,
            instants=files.instants,
            epochs=int(progress.get("epochs", 0)),
            replayed=int(progress.get("replayed", 0)),
            fast_rows=int(self._plan("fast_rows")),
            rate_per_s=self._plan("rate_per_s"),
            semantics=json.loads(progress.get("semantics", "{}")),
            faults=tuple(faults),
        )

    def _plan(self, key: str) -> float:
        return float(cast("str | None", self._redis.hget(self._run.feed, key)) or 0)

    def _nothing(self) -> str:
        reason = self._reason()
        return f"run {self._run.id}: no result for {self._timeout_s:g} s and no final entry" + (
            f"; {reason}" if reason else ": does a topology serve this run, and something feed it?"
        )

    def _reason(self) -> str:
        """Return what the topology's source says of itself; empty: nothing."""
        fault = cast("str | None", self._redis.hget(self._run.progress, "fault"))
        return f"dataSource says: {fault}" if fault else ""


def _folder(query: str) -> str:
    return "." if query == "1" else f"query{query}"
