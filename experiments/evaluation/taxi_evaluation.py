"""The taxi queries in an evaluation: rows are replayed, Spark verifies the answers and analyses the runs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from experiments.errors import ExperimentError
from experiments.evaluation.evaluated import Judged, Prepared
from experiments.evaluation.page.contents import Check, StrategyRun, Subject, Wording
from experiments.evaluation.taxi_rows import check_data, made_up_rows, rows_of
from experiments.topologies.taxi_query import at_rate, at_speed, taxi_query
from replay.analysis.analyse import AnalysisInput, analyse
from replay.analysis.placement import read_placement
from replay.analysis.predict import predict, predict_queries
from replay.analysis.sites import read_sites
from replay.compare.compare import compare_queries
from replay.expected.compute import write_expected
from replay.output import write_json
from replay.pipeline import VERDICT
from replay.session import spark_session

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from experiments.evaluation.compared import Variant
    from experiments.evaluation.taxi_rows import Rows
    from experiments.progress import Progress
    from experiments.topologies.description import FeedCommand, Say
    from experiments.topologies.taxi_query import Query
    from replay.compare.verdict import Verdict

EXPECTED, ANALYSIS = "expected", "analysis"
_SHARE = 10
_MOST = 1_000
_QUERIES = {"1": (1,), "2": (2,), "both": (1, 2)}
_ASKED = {
    "1": "Query 1: the ten most frequent routes of the last 30 minutes",
    "2": "Query 2: the ten most profitable areas (median fare and tip of 15 minutes, per empty taxi)",
    "both": "Both queries at once: the ten most frequent routes of the last 30 minutes, and the ten most "
    "profitable areas (median fare and tip of 15 minutes, per empty taxi)",
}
WORDING = Wording(
    noun="query",
    subjects={
        1: Subject("query 1", "1, routes", "Query 1, most frequent routes"),
        2: Subject("query 2", "2, areas", "Query 2, most profitable areas"),
    },
    compared="Each was compared with what Spark computed from the same rows, independently of the topology.",
    times="Response times in ms, from a row being in Redis to its result being back there; in topology: "
    "from the source to the last component. Predicted: what the decision core expects of this placement with "
    "the true delays, on the query's slowest way. Streams between sites: of the query; both queries may "
    "share some.",
    rates="First the rows that are fed as fast as they are consumed, then those at the set rate, from which "
    "the response times are taken.",
)


@dataclass(frozen=True)
class Feeding:
    """How rows are sent.

    Attributes:
        rate: Rows per second of the last `paced_rows`, which follow all others; None: at `speed`.
        paced_rows: Rows at that rate.
        speed: Multiple of the speed at which the trips ended, for all rows but the first; None: at `rate`.
    """

    rate: float | None
    paced_rows: int
    speed: float | None

    def fast_rows(self, rows: int) -> int:
        """Return how many of so many rows go first, as fast as they are consumed, and are not measured.

        At a speed a tenth, at most 1,000: else the first rows would wait until the topology has started.
        """
        return rows - self.paced_rows if self.speed is None else min(rows // _SHARE, _MOST)

    def sentence(self, rows: int) -> str:
        """Say how so many rows are sent."""
        fast = self.fast_rows(rows)
        how = (
            f"{self.rate:g} rows/s"
            if self.speed is None
            else f"{self.speed:g} times the speed at which the trips ended"
        )
        return (
            f"{fast:,} rows as fast as they are consumed, then {rows - fast:,} rows at {how}, from which "
            "response times are taken"
        )

    def command(self, rows: Rows) -> FeedCommand:
        """Return the command that sends rows."""
        fast = self.fast_rows(rows.count)
        if self.speed is not None:
            return at_speed(rows.path, fast, self.speed)
        assert self.rate is not None  # noqa: S101 - one of the two is given
        return at_rate(rows.path, fast, self.rate, self.paced_rows)


def read_feeding(rate: float | None, paced_rows: int | None, speed: float | None) -> Feeding:
    """Read `--rate`, `--paced-rows` and `--speed`.

    Raises:
        ExperimentError: A number is not finite, or `--speed` is given beside one of the others.
    """
    for option, value in (("--rate", rate), ("--speed", speed)):
        if value is not None and not math.isfinite(value):
            raise ExperimentError(f"{option}: {value} is not a finite number")
    if speed is not None:
        if rate is not None or paced_rows is not None:
            raise ExperimentError("--speed: it is for all rows, so --rate and --paced-rows do not go with it")
        return Feeding(None, 0, speed)
    return Feeding(10.0 if rate is None else rate, 300 if paced_rows is None else paced_rows, None)


@dataclass(frozen=True)
class TaxiEvaluation:
    """The taxi queries over some rows.

    Attributes:
        data: File of rows, of any known format, or a trips table.
        minutes: Minutes of made-up rows instead of `data`; None: `data`.
        seed: Seed of the made-up rows.
        query: What the topology answers.
        feeding: How rows are sent.
    """

    data: Path
    minutes: int | None
    seed: int
    query: Query
    feeding: Feeding

    def check(self) -> None:
        """Refuse data of no known format; see `Evaluated`."""
        if self.minutes is None:
            check_data(self.data)

    def rows(self, folder: Path, say: Say) -> Rows:
        """Return the rows to replay; what has to be made for that goes into a folder.

        Raises:
            ExperimentError: There are fewer rows than are to be sent at the rate.
            replay.errors.DataError: The data cannot be read.
        """
        if self.minutes is None:
            rows = rows_of(self.data, folder, say)
        else:
            rows = made_up_rows(self.minutes, self.seed, folder, say)
        paced = self.feeding.paced_rows
        if paced > rows.count:
            raise ExperimentError(f"--paced-rows: {paced} is more than the {rows.count} rows of {rows.path}")
        return rows

    def prepare(self, folder: Path, site_file: Path, say: Say, /) -> Prepared:
        """Return the topology with its rows; see `Evaluated`."""
        rows = self.rows(folder, say)
        which = "queries 1 and 2" if self.query == "both" else f"query {self.query}"
        return Prepared(
            description=taxi_query(rows.path, self.query),
            feeding=self.feeding.command(rows),
            title=f"DEBS 2015 taxi trips, {which}",
            facts={
                "Workload": f"{_ASKED[self.query]} (DEBS 2015 Grand Challenge), as a topology of Python "
                "components on Apache Storm, one task each",
                "Data": rows.sentence,
                "Feeding": self.feeding.sentence(rows.count),
            },
            wording=WORDING,
            judge=partial(self._judged, rows, site_file),
        )

    def _judged(
        self, rows: Rows, site_file: Path, folder: Path, runs: Mapping[Variant, Path], progress: Progress
    ) -> Judged:
        progress.step("verification: expected answers on Spark")
        sites, records = read_sites(site_file), folder / "lab" / "records"
        given = AnalysisInput(
            runs=tuple(runs.values()),
            records=records if any(records.glob("rounds-*")) else None,
            sites=site_file,
        )
        found = []
        with spark_session() as spark:
            queries = _QUERIES[self.query]
            write_expected(spark, rows.path, folder / EXPECTED, progress.detail, queries=queries)
            for variant, run in runs.items():
                verdict = compare_queries(spark, folder / EXPECTED, run)
                write_json(run / VERDICT, verdict.document())
                progress.detail(f"{variant.name}: {'right' if verdict.equal else 'WRONG'}")
                places = read_placement(run, sites)
                checks = tuple(
                    Check(query, each.equal, _sentence(each))
                    for query, each in sorted(verdict.by_query.items())
                )
                found.append(
                    StrategyRun(
                        *(variant.name, variant.description, checks, places),
                        prediction=predict(places, sites),
                        by_query=predict_queries(places, sites),
                    )
                )
            progress.step("analysis on Spark")
            return Judged(tuple(found), analyse(spark, given, folder / ANALYSIS, progress.detail))


def _sentence(verdict: Verdict) -> str:
    if verdict.first is not None:
        return verdict.first.sentence()
    return (
        f"{verdict.rows_answered:,} rows answered, {verdict.instants:,} states (one per drop-off instant) "
        f"and {verdict.output_rows:,} output rows agree"
    )
