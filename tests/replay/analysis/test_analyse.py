"""Analysis of runs: every figure is what a plain count over the files says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from bridge.record.record import RecordWriter, RoundRecord, versions
from bridge.wire.encoding import encode_response
from bridge.wire.messages import Decision, PlanResponse, Price, TopologyPlan
from replay.analysis.analyse import ANALYSIS, AnalysisInput, analyse
from replay.analysis.breakdown import QUERY_1
from replay.analysis.changes import around, read_split
from replay.analysis.hops import find_legs, way_of
from replay.analysis.placement import read_placement
from replay.analysis.popularity import count_demand
from replay.analysis.rounds import read_rounds
from replay.analysis.runs import answered_rows, find_runs
from replay.analysis.sites import read_sites
from replay.errors import DataError
from replay.output import MARK, write_json

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SITES = Path(__file__).resolve().parents[3] / "lab" / "sites" / "demo.toml"
START_MS = 1_795_271_050_000
FAST, ROWS = 200, 500
ROUTE_COLUMNS = (
    "n,parser_in_us,parser_out_us,filterByCoordinates_in_us,filterByCoordinates_out_us,computeRouteID_in_us,"
    "computeRouteID_out_us,countByWindow_in_us,countByWindow_clock_us,countByWindow_out_us,partialRank_in_us,"
    "partialRank_out_us,globalRank_in_us"
)
AREA_COLUMNS = (
    "n,parser_in_us,parser_out_us,filterByCoordinates_in_us,filterByCoordinates_out_us,computeAreaID_in_us,"
    "computeAreaID_out_us,emptyTaxis_in_us,emptyTaxis_clock_us,emptyTaxis_out_us,profitability_in_us,"
    "profitability_out_us,globalAreaRank_in_us"
)
COMPONENTS = (
    *("dataSource", "parser", "filterByCoordinates", "computeRouteID", "metronome", "countByWindow"),
    *("partialRank", "globalRank", "computeAreaID", "areaMetronome", "emptyTaxis", "profitability"),
    "globalAreaRank",
)


def write_query(
    folder: Path, rng: np.random.Generator, columns: str, tops: list[str], slower: int
) -> pd.DataFrame:
    """Write a query's files: fast rows, then paced ones; return results.csv."""
    folder.mkdir(parents=True, exist_ok=True)
    n = np.flatnonzero(rng.random(ROWS) < 0.9) + 1
    row_ms = START_MS + np.where(n <= FAST, 0, (n - FAST) * 100)
    took_ms = rng.integers(20, 60, len(n)) * slower
    emit_us = row_ms * 1000 + rng.integers(100, 900, len(n))
    results = pd.DataFrame(
        {
            "n": n,
            "row_ms": row_ms,
            "emit_us": emit_us,
            "done_us": emit_us + took_ms * 1000 - 3000,
            "result_ms": row_ms + took_ms,
            "paced": (n > FAST).astype(int),
        }
    )
    results.to_csv(folder / "results.csv", index=False)
    names = columns.split(",")[1:]
    stamps = np.sort(rng.integers(0, 15_000, (len(n), len(names))), axis=1)
    trails = pd.DataFrame(stamps, columns=names)
    trails.insert(0, "n", n)
    trails.to_csv(folder / "trails.csv", index=False)
    ends = [*range(9, int(n[-1]), 10), int(n[-1])]
    with (folder / "states.jsonl").open("w") as file:
        for place, end in enumerate(ends):
            stamp = f"2013-01-01 00:{place // 2:02d}:{place % 2 * 30:02d}"
            file.write(json.dumps({"n": end, "dropoff": stamp, "state": []}) + "\n")
    (folder / "tops.csv").write_text("".join(f"{line}\n" for line in tops))
    (folder / "summary.json").write_text(json.dumps({"rows": ROWS, "passed": len(n)}))
    return results


def top(*cells: str, width: int) -> str:
    """Return an output row with some ranks; the others are missing."""
    return ",".join(
        ["2013-01-01 00:00:00", "2013-01-01 00:01:00", *cells, *["NULL"] * (10 * width - len(cells))]
    )


ROUTES = [
    top("1.1", "2.2", width=2),
    top("3.3", "4.4", "1.1", "2.2", width=2),
    top("1.1", "2.2", "3.3", "4.4", width=2),
    top("1.1", "2.2", width=2),
]
AREAS = [top("5.5", "2", "10.000", "5.000000", width=4), top("5.5", "4", "12.000", "3.000000", width=4)]


@pytest.fixture
def runs(tmp_path: Path) -> tuple[Path, Path]:
    """Two runs of both queries; the second is three times as slow."""
    rng = np.random.default_rng(7)
    made = []
    for name, slower in (("quick", 1), ("slow", 3)):
        folder = tmp_path / name
        write_query(folder, rng, ROUTE_COLUMNS, ROUTES, slower)
        write_query(folder / "query2", rng, AREA_COLUMNS, AREAS, slower)
        hosts = ("uniroma2-1", "europe-west1-1")
        executors = [
            {"component": name, "first_task": k, "last_task": k, "host": hosts[k % 2], "port": 6700}
            for k, name in enumerate(COMPONENTS)
        ]
        (folder / "placement.json").write_text(json.dumps({"executors": executors}))
        made.append(folder)
    return made[0], made[1]


def write_records(folder: Path, files: int = 2) -> None:
    """Write two rounds per file: one that assigns, one that keeps."""
    for place in range(files):
        writer = RecordWriter(folder, max_bytes=1, files=10)
        for decision, price in ((Decision.ASSIGN, Price(0.25, 3, 2)), (Decision.KEEP, None)):
            plan = TopologyPlan("taxi-1", decision, (), (), "a status", "odp", 0.5, 70.0, 0.4, price)
            response = PlanResponse(1, "round", (plan,))
            record = RoundRecord(
                b"",
                encode_response(response),
                "{}",
                "",
                100.0 + 10 * place + int(price is None),
                {"plan": 12.5, "wait": 0.1},
                False,
                versions(),
            )
            writer.append(record)


def named(document: dict[str, Any], run: str, query: int) -> dict[str, Any]:
    return next(each for each in document["runs"] if (each["run"], each["query"]) == (run, query))


@pytest.mark.spark
def test_an_analysis_is_what_plain_counts_say(
    spark: SparkSession, runs: tuple[Path, Path], tmp_path: Path
) -> None:
    write_records(tmp_path / "records")
    given = AnalysisInput(runs, records=tmp_path / "records", sites=SITES)

    document = analyse(spark, given, tmp_path / "out")

    assert json.loads((tmp_path / "out" / ANALYSIS).read_text()) == document
    for folder in runs:
        for query, home in ((1, folder), (2, folder / "query2")):
            one = named(document, folder.name, query)
            results = pd.read_csv(home / "results.csv")
            paced = results[results["paced"] == 1]
            times = (paced["result_ms"] - paced["row_ms"]).to_numpy()
            figures = one["latency"]["end_to_end"]
            for percent in (50, 90, 95, 99):
                assert figures[f"p{percent}_ms"] == pytest.approx(np.percentile(times, percent))
            assert (figures["count"], figures["max_ms"]) == (len(times), times.max())
            assert figures["mean_ms"] == pytest.approx(times.mean())
            assert one["rows"] == len(results)
            assert_timeline(one, results)
            assert sum(row["rows"] for row in one["demand"]) == len(results)
            first_minute = results["n"].le(19).sum()
            assert one["demand"][0]["rows"] == first_minute
            assert_legs(one, home)
    routes = named(document, "quick", 1)["ranked"]
    assert [(row["name"], row["rows"], row["best_rank"]) for row in routes] == [
        ("1.1-2.2", 4, 1),
        ("3.3-4.4", 2, 1),
    ]
    assert routes[0]["mean_rank"] == pytest.approx(1.25)
    assert routes[0]["share"] == 1.0
    (area,) = named(document, "quick", 2)["ranked"]
    assert (area["name"], area["median"], area["empty"], area["profitability"]) == ("5.5", 11.0, 3.0, 4.0)
    assert [(row["decision"], row["executors_moved"]) for row in document["rounds"]] == [
        ("assign", 3),
        ("keep", 0),
        ("assign", 3),
        ("keep", 0),
    ]
    for change in document["changes"]:
        assert (change["before"], change["after"]) == ("quick", "slow")
        assert change["figures"]["p50"]["factor"] == pytest.approx(3.0, rel=0.1)
    tables = {path.name for path in (tmp_path / "out").glob("*.parquet")}
    assert tables == {
        f"{name}.parquet" for name in ("figures", "timeline", "hops", "demand", "routes", "areas", "rounds")
    }
    assert (
        spark.read.parquet(str(tmp_path / "out" / "timeline.parquet")).select("run").distinct().count() == 2
    )


def assert_timeline(one: dict[str, Any], results: pd.DataFrame) -> None:
    width, start = one["slice_s"], int(results["row_ms"].min())
    for moment, key in (("row_ms", "rows_in"), ("result_ms", "rows_out")):
        expected = ((results[moment] - start) // (1000 * width) * width).value_counts().to_dict()
        assert {row["start_s"]: row[key] for row in one["timeline"] if row[key]} == expected
    paced = results[results["paced"] == 1]
    inside = (paced["row_ms"] - start) // (1000 * width) * width
    medians = (paced["result_ms"] - paced["row_ms"]).groupby(inside).median().to_dict()
    assert {row["start_s"]: row["p50_ms"] for row in one["timeline"] if row["measured"]} == pytest.approx(
        medians
    )


def assert_legs(one: dict[str, Any], home: Path) -> None:
    """The legs of each row add up to its time end to end, so do their means; medians lie in their range."""
    joined = pd.read_csv(home / "results.csv").merge(pd.read_csv(home / "trails.csv"), on="n")
    paced = joined[joined["paced"] == 1]
    legs = {leg["name"]: leg for leg in one["legs"]}
    hop = legs["parser - filterByCoordinates"]
    took = (paced["filterByCoordinates_in_us"] - paced["parser_out_us"]) / 1000
    assert hop["median_ms"] == pytest.approx(took.median())
    assert hop["network_ms"] == 28.0
    last = "globalRank" if one["query"] == 1 else "globalAreaRank"
    assert f"{last} - Redis" in legs


@pytest.mark.spark
def test_a_split_compares_both_sides_of_a_moment(
    spark: SparkSession, runs: tuple[Path, Path], tmp_path: Path
) -> None:
    results = pd.read_csv(runs[0] / "results.csv")
    paced = results[results["paced"] == 1]
    early = paced["row_ms"] < paced["row_ms"].min() + 10_000
    given = AnalysisInput((runs[0],), split=read_split("10"))

    document = analyse(spark, given, tmp_path / "out")

    change = next(each for each in document["changes"] if each["query"] == 1)
    assert change["rows"] == [early.sum(), (~early).sum()]
    times = paced["result_ms"] - paced["row_ms"]
    assert change["figures"]["p50"]["before_ms"] == pytest.approx(times[early].median())
    assert change["figures"]["p50"]["after_ms"] == pytest.approx(times[~early].median())
    assert document["rounds"] == []
    assert named(document, "quick", 1)["legs"] == []

    run = find_runs(runs)[0]
    with pytest.raises(DataError, match=r"results\.csv: no measured row was available after 9999"):
        around(run, answered_rows(spark, run), read_split("9999"))


@pytest.mark.spark
def test_bad_files_are_named_with_their_place(
    spark: SparkSession, runs: tuple[Path, Path], tmp_path: Path
) -> None:
    """Before any row is read where a header says enough; an earlier analysis stays when a later one fails."""
    run, sites = find_runs(runs)[0], read_sites(SITES)
    rows = answered_rows(spark, run)
    trails = runs[0] / "trails.csv"
    good = trails.read_text()
    for broken, sentence in (
        ("n,something\n1,2\n", r"trails\.csv: line 1 is no header of trails"),
        (good.replace("parser", "other"), r"trails\.csv: line 1: the placement has no executor of other"),
    ):
        trails.write_text(broken)
        with pytest.raises(DataError, match=sentence):
            find_legs(spark, run, rows, read_placement(runs[0], sites), sites)
    trails.write_text("\n".join(good.splitlines()[:-1]))
    earlier = tmp_path / "out" / MARK
    write_json(earlier, {"kind": "analysis"})
    with pytest.raises(DataError, match=r"trails\.csv: row \d+ of results\.csv: parser_in_us is missing"):
        analyse(spark, AnalysisInput((runs[0],), sites=SITES), earlier.parent)
    assert [path.name for path in tmp_path.glob("*out*/*")] == [MARK]
    with (runs[0] / "states.jsonl").open("a") as file:
        file.write('{"n": 1000}\n')
    with pytest.raises(DataError, match=r"states\.jsonl: line \d+: no row number or no drop-off time"):
        count_demand(spark, run, rows)
    records = tmp_path / "records"
    write_records(records)
    next(records.glob("rounds-*2.jsonl.gz")).write_bytes(b"no gzip at all")
    with pytest.raises(DataError, match=r"rounds-00000002\.jsonl\.gz: is no record file"):
        read_rounds(spark, records)


def test_the_way_follows_from_the_header_of_the_trails() -> None:
    assert way_of(ROUTE_COLUMNS.split(","), 1) == QUERY_1
    assert way_of(AREA_COLUMNS.split(","), 2).clocks == {"emptyTaxis": "areaMetronome"}
