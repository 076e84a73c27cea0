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
    from collections.abc import Callable
    from pathlib import Path

    from redis import Redis

    from topologies.synthetic.configuration import SyntheticRun
    from topologies.synthetic.totals import Tally

_PAGE = 1_000
TUPLE_COLUMNS = ("sink", "n", "path", "emit_us", "delay_us")


class SyntheticCollector:
    """Waits until all sinks of a run have ended, as long as new tuples come, and writes its files.

    Args:
        redis: Client with decoded responses.
        run: The run.
        timeout_s: Longest time without a new entry, seconds.
        report: Called after each page with the tuples so far.
    """

    def __init__(
        self, redis: Redis, run: SyntheticRun, timeout_s: float, report: Callable[[int], None]
    ) -> None:
        self._redis = redis
        self._run = run
        self._timeout_s = timeout_s
        self._report = report

    def collect(self, out: Path) -> RunSummary:
        """Write `tuples.csv`, `paths.csv`, `streams.csv` and `summary.json` to a folder.

        The files appear together at the end; before, nothing is changed there.

        Args:
            out: The folder; made when it does not exist.

        Raises:
            CollectError: There is no tuple at all, an entry cannot be read, or two submissions used the run.
        """
        with result_folder(out) as folder:
            summary = self._gather(folder)
            write_summary(folder, self._run.id, summary)
        return summary

    def _gather(self, folder: Path) -> RunSummary:
        with (folder / "tuples.csv").open("w", encoding="utf-8", newline="") as file:
            gathering = _Gathering(self._run.id, file)
            self._take_entries(gathering)
        summary = gathering.summary()
        if summary is None:
            raise CollectError(
                f"run {self._run.id}: no measured tuple for {self._timeout_s:g} s: does a topology serve "
                "this run, and is its warm-up over?"
            )
        return summary

    def _take_entries(self, gathering: _Gathering) -> None:
        for entries in follow(self._redis, [self._run.arrivals], _PAGE, self._timeout_s):
            for _, (identity, fields) in entries:
                gathering.take(identity, fields)
                if gathering.complete:
                    return
            self._report(gathering.tuples)


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

    def take(self, identity: str, fields: dict[str, str]) -> None:
        if "plan" in fields:
            self._take_plan(fields["plan"])
        if "end" in fields:
            self._ended.add(fields["end"])
            self._totals |= by_component(fields["totals"])
        if "trail" in fields:
            self._take_tuple(identity, fields)

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
        self._sheet.writerow([fields["sink"], fields["n"], path, journey.emit_us, journey.delay_us])
