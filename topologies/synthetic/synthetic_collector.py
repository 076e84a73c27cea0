"""Takes what the sinks of a run wrote out of Redis into files."""

from __future__ import annotations

import csv
import json
from collections import Counter
from typing import TYPE_CHECKING, TextIO

from topologies.collecting import CollectError, follow, result_folder
from topologies.synthetic.journey import parse
from topologies.synthetic.results import Measurements, faults_of
from topologies.synthetic.run_summary import RunSummary, write_summary
from topologies.synthetic.totals import by_component
from topologies.synthetic.workload import Workload

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from redis import Redis

    from topologies.collecting import StreamEntry
    from topologies.synthetic.configuration import SyntheticRun
    from topologies.synthetic.totals import Tally

_PAGE = 1_000
TUPLE_COLUMNS = ("sink", "n", "path", "emit_us", "delay_us", "work_us")


def collect_run(
    redis: Redis, run: SyntheticRun, out: Path, *, timeout_s: float, report: Callable[[int], None]
) -> RunSummary:
    """Wait until all sinks have ended, as long as new tuples come, and write the run's files.

    `tuples.csv`, `paths.csv`, `streams.csv` and `summary.json` appear together at the end; before, nothing is
    changed in the folder.

    Args:
        redis: Client with decoded responses.
        run: The run.
        out: The folder; made when it does not exist.
        timeout_s: Longest time without a new entry, seconds; then what is there is written.
        report: Called after each page with the tuples so far.

    Raises:
        CollectError: There is no tuple at all, an entry cannot be read, or two submissions used the run.
    """
    with result_folder(out) as folder:
        with (folder / "tuples.csv").open("w", encoding="utf-8", newline="") as file:
            gathering = _Gathering(run.id, file)
            for entries in follow(redis, [run.arrivals], _PAGE, timeout_s):
                gathering.take_all(entry for _, entry in entries)
                if gathering.complete:
                    break
                report(gathering.tuples)
        summary = gathering.summary()
        if summary is None:
            raise CollectError(
                f"run {run.id}: no measured tuple for {timeout_s:g} s: does a topology serve this run, "
                "and is its warm-up over?"
            )
        write_summary(folder, run.id, summary)
    return summary


class _Gathering:
    """What is known of a run after some of its entries.

    Args:
        run: Id of the run.
        file: Where a line per tuple goes.
    """

    def __init__(self, run: str, file: TextIO) -> None:
        self._run = run
        self._sheet = csv.writer(file, lineterminator="\n")
        self._sheet.writerow(TUPLE_COLUMNS)
        self._plan: str | None = None
        self._measurements: Measurements | None = None
        self._workload: Workload | None = None
        self._totals: dict[str, Tally] = {}
        self._arrivals: Counter[str] = Counter()
        self._ended: set[str] = set()

    @property
    def tuples(self) -> int:
        """How many tuples have come."""
        return self._arrivals.total()

    @property
    def complete(self) -> bool:
        """Whether all sinks have ended."""
        return self._workload is not None and len(self._ended) == len(self._workload.sinks)

    def take_all(self, entries: Iterable[StreamEntry]) -> None:
        """Take entries, until all sinks have ended."""
        for identity, fields in entries:
            if "plan" in fields:
                self._take_plan(fields["plan"])
            if "end" in fields:
                self._ended.add(fields["end"])
                self._totals |= by_component(fields["totals"])
            if "trail" in fields:
                self._take_tuple(identity, fields)
            if self.complete:
                return

    def summary(self) -> RunSummary | None:
        """Return what was measured; None without a tuple."""
        if self._workload is None or self._measurements is None or not self._arrivals:
            return None
        return RunSummary(
            workload=self._workload,
            tuples=self.tuples,
            paths=self._measurements.paths(),
            streams=self._measurements.streams(self._totals),
            work={name: delays.p50_ms for name, delays in self._measurements.work().items()},
            faults=tuple(faults_of(self._workload, self._totals, self._arrivals, self._ended)),
            replayed=sum(tally.get("replayed", 0) for tally in self._totals.values()),
        )

    def _take_plan(self, plan: str) -> None:
        if self._plan is None:
            self._plan = plan
            self._workload = Workload.from_conf(json.loads(plan))
            self._measurements = Measurements(self._workload)
        elif plan != self._plan:
            raise CollectError(f"run {self._run} was used for two different submissions")

    def _take_tuple(self, identity: str, fields: dict[str, str]) -> None:
        if self._measurements is None:
            raise CollectError(f"run {self._run}: entry {identity} comes before any plan")
        try:
            journey = parse(fields["trail"])
            path = self._measurements.add(journey)
        except (ValueError, IndexError) as error:
            raise CollectError(f"run {self._run}: entry {identity}: {error}") from error
        self._arrivals[fields["sink"]] += 1
        times_us = (journey.emit_us, journey.delay_us, journey.work_us)
        self._sheet.writerow([fields["sink"], fields["n"], path, *times_us])
