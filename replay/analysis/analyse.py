"""One analysis of some runs: all tables as Parquet, all figures as one JSON document."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documents use

from replay.analysis.breakdown import parts
from replay.analysis.changes import Change, around, between_runs
from replay.analysis.hops import find_legs
from replay.analysis.latency import measure
from replay.analysis.placement import PLACEMENT, read_placement_file
from replay.analysis.popularity import count_demand, count_ranks
from replay.analysis.rounds import read_rounds
from replay.analysis.runs import answered_rows, find_runs
from replay.analysis.sites import read_sites
from replay.analysis.timeline import slice_width_s, span_ms, timeline
from replay.errors import DataError
from replay.failures import reading
from replay.output import MARK, read_json, replaced_folder, write_json
from replay.places import spark_path
from replay.stream_files import SUMMARY

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from replay.analysis.changes import Split
    from replay.analysis.latency import Latency
    from replay.analysis.runs import QueryRun

ANALYSIS = "analysis.json"
LISTED = 400
"""Routes and areas of a run that the document lists; the tables have all."""

_FIGURES = ("count", "mean_ms", "p50_ms", "p90_ms", "p95_ms", "p99_ms", "max_ms")


@dataclass(frozen=True)
class AnalysisInput:
    """What is analysed.

    Attributes:
        runs: Folders of the runs.
        records: Folder of the daemon's records; None: no rounds.
        placement: File that says where the executors ran; None: placement.json of each run.
        sites: Site file of the lab; None: no breakdown by hop.
        split: Moment that cuts each run in two; None: later runs are compared with the first.
        slice_s: Width of the slices of the time line, s; None: by the length of the run.
    """

    runs: tuple[Path, ...]
    records: Path | None = None
    placement: Path | None = None
    sites: Path | None = None
    split: Split | None = None
    slice_s: int | None = None


def analyse(
    spark: SparkSession, given: AnalysisInput, out: Path, say: Callable[[str], None] = lambda _: None
) -> dict[str, Any]:
    """Analyse runs and write the results; an earlier analysis in the folder is replaced whole.

    Args:
        spark: Session.
        given: What to analyse.
        out: Folder for `analysis.json` and the tables `figures`, `timeline`, `hops`, `demand`, `routes`,
            `areas` and `rounds`, each a folder of Parquet with the columns `run` and `query`.
        say: Receives one line per finished step.

    Returns:
        The document of `analysis.json`.

    Raises:
        DataError: A file is missing or malformed, or the results cannot be written.
    """
    runs = find_runs(given.runs)
    with replaced_folder(out) as scratch:
        work = _Work(spark, given, scratch)
        measured: list[tuple[QueryRun, Latency]] = []
        documents: list[dict[str, Any]] = []
        changes: list[Change] = []
        for run in runs:
            with reading(run.results):
                rows = work.keep(answered_rows(spark, run))
                latency = measure(rows.where("measured"), run.results)
                if latency is None:  # answered_rows refuses a run without rows
                    raise DataError(f"{run.results}: no row is measured")
                measured.append((run, latency))
                documents.append(work.one(run, rows, latency))
                if given.split is not None:
                    changes.append(around(run, rows, given.split))
            median_ms = latency.end_to_end.percentile_ms(50)
            say(f"{run.run}, query {run.query}: median {median_ms:.1f} ms end to end")
        if given.split is None:
            changes = between_runs(measured)
        document = {
            "kind": "analysis",
            "version": 1,
            "runs": documents,
            "changes": [change.document() for change in changes],
            "rounds": work.rounds(),
        }
        work.write()
        write_json(scratch / ANALYSIS, document)
        write_json(scratch / MARK, {"kind": "analysis", "runs": [str(folder) for folder in given.runs]})
    return document


class _Work:
    """Analyses runs one by one and gathers their tables."""

    def __init__(self, spark: SparkSession, given: AnalysisInput, out: Path) -> None:
        self._spark = spark
        self._given = given
        self._out = out
        self._sites = None if given.sites is None else read_sites(given.sites)
        self._tables: dict[str, list[DataFrame]] = {}
        self._kept: list[DataFrame] = []

    def keep(self, rows: DataFrame) -> DataFrame:
        """Keep rows at hand until the tables that depend on them are written."""
        self._kept.append(rows.persist())
        return rows

    def one(self, run: QueryRun, rows: DataFrame, latency: Latency) -> dict[str, Any]:
        """Return what one query of one run came to."""
        start_ms, end_ms = span_ms(rows)
        span_s = (end_ms - start_ms) / 1000
        slice_s = self._given.slice_s or slice_width_s(span_s)
        listed = self._add("routes" if run.query == 1 else "areas", run, count_ranks(self._spark, run))
        figures = {"end_to_end": latency.end_to_end.document(), "in_topology": latency.in_topology.document()}
        self._figures(run, figures)
        counted = rows.agg(F.count("*").alias("rows"), F.sum(F.col("measured").cast("int")).alias("measured"))
        counts = counted.collect()[0]
        return {
            "run": run.run,
            "query": run.query,
            "folder": str(run.folder),
            "summary": read_json(run.folder / SUMMARY),
            "rows": counts["rows"],
            "measured": counts["measured"],
            "start_s": start_ms / 1000,
            "span_s": span_s,
            "rows_per_s": counts["rows"] / span_s if span_s else None,
            "slice_s": slice_s,
            "latency": figures,
            "timeline": _rows(self._add("timeline", run, timeline(rows, start_ms, slice_s))),
            "demand": _rows(self._add("demand", run, count_demand(self._spark, run, rows))),
            "ranked": _rows(listed.limit(LISTED)),
            **self._hops(run, rows),
        }

    def rounds(self) -> list[dict[str, Any]]:
        """Return the scheduler's rounds."""
        if self._given.records is None:
            return []
        with reading(self._given.records):
            rounds = read_rounds(self._spark, self._given.records)
            self._tables.setdefault("rounds", []).append(rounds)
            return _rows(rounds)

    def write(self) -> None:
        """Write all tables."""
        for name, tables in self._tables.items():
            with reading(self._out / name):
                whole = reduce(lambda one, other: one.unionByName(other), tables)
                whole.write.parquet(spark_path(self._out / f"{name}.parquet"))
        for rows in self._kept:
            rows.unpersist()

    def _add(self, name: str, run: QueryRun, table: DataFrame) -> DataFrame:
        named = table.select(F.lit(run.run).alias("run"), F.lit(run.query).alias("query"), "*")
        self._tables.setdefault(name, []).append(named)
        return table

    def _figures(self, run: QueryRun, figures: dict[str, dict[str, Any]]) -> None:
        rows = [(name, *(float(each[key]) for key in _FIGURES)) for name, each in figures.items()]
        columns = ", ".join(f"{key} double" for key in _FIGURES)
        self._add("figures", run, self._spark.createDataFrame(rows, f"response_time string, {columns}"))

    def _hops(self, run: QueryRun, rows: DataFrame) -> dict[str, Any]:
        if self._sites is None:
            return {"legs": [], "parts": None}
        places = read_placement_file(self._given.placement or run.home / PLACEMENT, self._sites)
        way = find_legs(self._spark, run, rows, places, self._sites)
        legs = [asdict(leg) for leg in way]
        schema = (
            "leg int, name string, kind string, place string, "
            "median_ms double, p95_ms double, network_ms double"
        )
        table = [(number, *leg.values()) for number, leg in enumerate(legs)]
        self._add("hops", run, self._spark.createDataFrame(table, schema))
        return {"legs": legs, "parts": asdict(parts(way))}


def _rows(table: DataFrame) -> list[dict[str, Any]]:
    return [row.asDict() for row in table.collect()]
