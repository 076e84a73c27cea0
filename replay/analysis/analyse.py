"""One analysis of some runs: all tables as Parquet, all figures as one JSON document."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow ships no types

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
from replay.stream_files import SUMMARY
from replay.trips.table import write_parquet

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
        work = _Work(spark, given)
        measured: list[tuple[QueryRun, Latency]] = []
        documents: list[dict[str, Any]] = []
        changes: list[Change] = []
        for run in runs:
            with reading(run.results):
                rows = answered_rows(spark, run).persist()
                latency = measure(rows.where("measured"), run.results)
                if latency is None:  # answered_rows refuses a run without rows
                    raise DataError(f"{run.results}: no row is measured")
                measured.append((run, latency))
                documents.append(work.one(run, rows, latency))
                if given.split is not None:
                    changes.append(around(run, rows, given.split))
                rows.unpersist()
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
        work.write(scratch)
        write_json(scratch / ANALYSIS, document)
        write_json(scratch / MARK, {"kind": "analysis", "runs": [str(folder) for folder in given.runs]})
    return document


class _Work:
    """Analyses runs one by one and gathers their tables, which are small whatever the size of the runs."""

    def __init__(self, spark: SparkSession, given: AnalysisInput) -> None:
        self._spark = spark
        self._given = given
        self._sites = None if given.sites is None else read_sites(given.sites)
        self._tables: dict[str, list[pa.Table]] = {}

    def one(self, run: QueryRun, rows: DataFrame, latency: Latency) -> dict[str, Any]:
        """Return what one query of one run came to."""
        start_ms, end_ms = span_ms(rows)
        span_s = (end_ms - start_ms) / 1000
        slice_s = self._given.slice_s or slice_width_s(span_s)
        count = rows.count()
        figures = {"end_to_end": latency.end_to_end.document(), "in_topology": latency.in_topology.document()}
        table = [
            {"response_time": name, **{key: float(each[key]) for key in _FIGURES}}
            for name, each in figures.items()
        ]
        self._add("figures", run, pa.Table.from_pylist(table))
        ranked = count_ranks(self._spark, run).toArrow()
        return {
            "run": run.run,
            "query": run.query,
            "folder": str(run.folder),
            "summary": read_json(run.folder / SUMMARY),
            "rows": count,
            "measured": latency.end_to_end.count,
            "start_s": start_ms / 1000,
            "span_s": span_s,
            "rows_per_s": count / span_s if span_s else None,
            "slice_s": slice_s,
            "latency": figures,
            "timeline": self._add("timeline", run, timeline(rows, start_ms, slice_s).toArrow()),
            "demand": self._add("demand", run, count_demand(self._spark, run, rows).toArrow()),
            "ranked": self._add("routes" if run.query == 1 else "areas", run, ranked)[:LISTED],
            **self._hops(run, rows),
        }

    def rounds(self) -> list[dict[str, Any]]:
        """Return the scheduler's rounds."""
        if self._given.records is None:
            return []
        with reading(self._given.records):
            rounds = read_rounds(self._spark, self._given.records).toArrow()
        self._tables["rounds"] = [rounds]
        return _rows(rounds)

    def write(self, out: Path) -> None:
        """Write all tables."""
        for name, tables in self._tables.items():
            write_parquet(pa.concat_tables(tables), out / f"{name}.parquet" / "part-0.parquet", [])

    def _add(self, name: str, run: QueryRun, table: pa.Table) -> list[dict[str, Any]]:
        """Keep a table of a run, with the run's name and query; return its rows."""
        count = table.num_rows
        named = table.add_column(0, "query", pa.repeat(pa.scalar(run.query, pa.int32()), count))
        self._tables.setdefault(name, []).append(named.add_column(0, "run", pa.repeat(run.run, count)))
        return _rows(table)

    def _hops(self, run: QueryRun, rows: DataFrame) -> dict[str, Any]:
        if self._sites is None:
            return {"legs": [], "parts": None}
        places = read_placement_file(self._given.placement or run.home / PLACEMENT, self._sites)
        way = find_legs(self._spark, run, rows, places, self._sites)
        legs = [asdict(leg) for leg in way]
        table = pa.Table.from_pylist(legs).add_column(0, "leg", pa.array(range(len(legs)), pa.int32()))
        self._add("hops", run, table)
        return {"legs": legs, "parts": asdict(parts(way))}


def _rows(table: pa.Table) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = table.to_pylist()
    return rows
