"""A right run is equal, and every seeded fault is found at its first place."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from replay.compare.compare import compare_queries, compare_run
from replay.compare.expected_folder import Answers, read_answers
from replay.errors import DataError
from replay.expected.compute import write_expected

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


class Case(NamedTuple):
    expected: Path
    answers: Answers
    reference: Any
    folder: Path


@pytest.fixture(scope="module")
def prepared(
    spark: SparkSession,
    messy: Callable[..., list[str]],
    reference: Callable[..., Any],
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[Path, Any]:
    folder = tmp_path_factory.mktemp("compare")
    lines = messy(3, 240)
    (folder / "rows.csv").write_text("\n".join(lines) + "\n")
    write_expected(spark, folder / "rows.csv", folder / "expected", lambda _: None, queries=(1, 2))
    return folder / "expected", reference(lines)


@pytest.fixture
def case(
    spark: SparkSession,
    prepared: tuple[Path, Any],
    write_run: Callable[[Any, Path], None],
    tmp_path: Path,
) -> Case:
    expected, reference = prepared
    write_run(reference, tmp_path)
    return Case(expected, read_answers(spark, expected), reference, tmp_path)


def edit(path: Path, change: Callable[[list[str]], None]) -> None:
    lines = path.read_text().splitlines()
    change(lines)
    path.write_text("".join(f"{line}\n" for line in lines))


def state_line(case: Case, n: int) -> int:
    """Return the place (from 0) of a row's state."""
    return [number for number, _ in case.reference.states].index(n)


def state_row(case: Case, place: int) -> int:
    """Return the row of a state by its place (from 0)."""
    number: int = case.reference.states[place][0]
    return number


def test_a_right_run_is_equal(spark: SparkSession, case: Case) -> None:
    verdict = compare_run(spark, case.answers, case.folder)

    assert verdict.equal
    assert verdict.first is None
    assert verdict.rows_answered == verdict.rows_expected == len(case.reference.passed)
    assert verdict.instants == len(case.reference.instants)


def test_the_order_within_ties_is_free_only_if_it_is_said_to_be(spark: SparkSession, case: Case) -> None:
    """Then neither the output rows nor the order of answers count."""

    def reorder(lines: list[str]) -> None:
        for place, text in enumerate(lines):
            entry = json.loads(text)
            entry["state"].sort(key=lambda each: (-each[1], each[0]))
            lines[place] = json.dumps(entry)

    edit(case.folder / "states.jsonl", reorder)
    strict = compare_run(spark, case.answers, case.folder)
    edit(case.folder / "results.csv", lambda lines: lines.__setitem__(slice(1, 3), [lines[2], lines[1]]))
    (case.folder / "tops.csv").write_text("")

    free = compare_run(spark, case.answers, case.folder, free_ties=True)

    assert free.equal
    (difference,) = strict.differences
    assert difference.kind == "state"
    assert "is route" in difference.reason


def test_a_state_too_many_is_found(spark: SparkSession, case: Case) -> None:
    """One for a row that ends no instant, and one given twice."""
    passed = [n for n, _ in case.reference.passed]
    extra = next(n for n in passed if n not in case.reference.instants)

    def spoil(lines: list[str]) -> None:
        lines.append(json.dumps({**json.loads(lines[0]), "n": extra}))
        lines.append(lines[7])

    edit(case.folder / "states.jsonl", spoil)

    verdict = compare_run(spark, case.answers, case.folder)

    (difference,) = verdict.differences
    assert (difference.kind, difference.count) == ("state", 2)
    assert difference.row == min(extra, state_row(case, 7))


@pytest.fixture
def areas(spark: SparkSession, case: Case) -> Path:
    """A right run of query 2 beside that of query 1, made from the expected answers."""
    answers = read_answers(spark, case.expected, query=2)
    folder = case.folder / "query2"
    folder.mkdir()
    passed = sorted(row["line"] for row in answers.passed.collect())
    rows = ["n,row_ms,emit_us,done_us,result_ms,paced", *(f"{n},1,1,1,1,0" for n in passed)]
    (folder / "results.csv").write_text("\n".join(rows) + "\n")
    columns = ("areas", "empty", "medians", "profitabilities")
    states = []
    for row in answers.instants.orderBy("line").collect():
        state = [list(each) for each in zip(*(row[name] for name in columns), strict=True)]
        states.append(json.dumps({"n": row["line"], "dropoff": "", "state": state[:10]}))
    (folder / "states.jsonl").write_text("\n".join(states) + "\n")
    tops = answers.tops.orderBy("position").collect()
    (folder / "tops.csv").write_text("".join(f"{row['row']}\n" for row in tops))
    summary = answers.summary
    totals = {"rows": summary.rows, "passed": summary.valid, "rejected": summary.rows - summary.valid}
    (folder / "summary.json").write_text(json.dumps({**totals, "reasons": summary.rejected}))
    return folder


def test_both_queries_of_a_run_are_compared(spark: SparkSession, case: Case, areas: Path) -> None:
    """A fault in the second's answers is named with its folder, and the first stays right."""
    right = compare_queries(spark, case.expected, case.folder)

    def spoil(lines: list[str]) -> None:
        entry = json.loads(lines[20])
        entry["state"][0][1] += 1
        lines[20] = json.dumps(entry)

    edit(areas / "states.jsonl", spoil)
    wrong = compare_queries(spark, case.expected, case.folder)

    assert right.equal
    assert right.document()["queries"]["2"]["equal"] is True
    assert (wrong.by_query[1].equal, wrong.by_query[2].equal, wrong.equal) == (True, False, False)
    assert wrong.first is not None
    assert (wrong.first.file, wrong.first.line) == ("query2/states.jsonl", 21)
    assert wrong.first.reason.startswith("area ")
    assert wrong.document()["differences"][0]["sentence"] == wrong.first.sentence()


def test_a_run_of_query_2_alone_is_compared(spark: SparkSession, case: Case, areas: Path) -> None:
    for path in case.folder.glob("*.*"):
        path.unlink()

    assert list(compare_queries(spark, case.expected, case.folder).by_query) == [2]

    shutil.rmtree(areas)
    with pytest.raises(DataError, match=r"results\.csv: no such file"):
        compare_queries(spark, case.expected, case.folder)


def test_answers_that_are_missing_doubled_or_out_of_turn_are_found(spark: SparkSession, case: Case) -> None:
    """Passed rows 11, 21 and 31: one taken out, one doubled, one moved behind its successor."""
    passed = [n for n, _ in case.reference.passed]
    rejected = min(case.reference.rejects)

    def spoil(lines: list[str]) -> None:
        lines[31], lines[32] = lines[32], lines[31]
        lines.insert(22, lines[21])
        del lines[11]
        lines.append(f"{rejected},1,1,1,1,0")

    edit(case.folder / "results.csv", spoil)

    verdict = compare_run(spark, case.answers, case.folder)

    found = {each.kind: (each.row, each.line) for each in verdict.differences}
    assert found["missing"] == (passed[10], None)
    assert found["repeated"] == (passed[20], 22)
    assert found["order"] == (passed[30], 33)
    assert found["extra"] == (rejected, len(passed) + 2)
    assert verdict.first == verdict.differences[0]
    assert verdict.first is not None
    assert verdict.first.row == min(row for row, _ in found.values() if row is not None)
    assert "results.csv" in verdict.first.sentence()


def test_a_wrong_count_and_a_missing_state_are_found_at_their_instant(
    spark: SparkSession, case: Case
) -> None:
    instants = list(case.reference.instants)
    wrong, missing = instants[5], instants[9]

    def spoil(lines: list[str]) -> None:
        place = state_line(case, wrong)
        entry = json.loads(lines[place])
        entry["state"][0][1] += 1
        lines[place] = json.dumps(entry)
        del lines[state_line(case, missing)]

    edit(case.folder / "states.jsonl", spoil)

    verdict = compare_run(spark, case.answers, case.folder)

    (difference,) = verdict.differences
    assert (difference.kind, difference.count, difference.row) == ("state", 2, wrong)
    assert difference.line == state_line(case, wrong) + 1
    assert difference.reason.startswith("rank 1 has count")
    assert difference.instant is not None
    assert difference.instant.startswith("2013-01-01 ") or difference.instant.startswith("2012-12-31 ")


def test_output_rows_must_agree_one_by_one(spark: SparkSession, case: Case) -> None:
    """A changed row counts, and a file cut short misses its last row."""

    def spoil(lines: list[str]) -> None:
        lines[3] = lines[3].replace("NULL", "null")
        del lines[-1]

    edit(case.folder / "tops.csv", spoil)

    verdict = compare_run(spark, case.answers, case.folder)

    (difference,) = verdict.differences
    assert (difference.kind, difference.count, difference.line) == ("top", 2, 4)
    assert difference.row == case.reference.tops[3][0]


def test_other_totals_are_found(spark: SparkSession, case: Case) -> None:
    document = json.loads((case.folder / "summary.json").read_text())
    (case.folder / "summary.json").write_text(json.dumps({**document, "rows": 239, "reasons": {}}))

    verdict = compare_run(spark, case.answers, case.folder)

    assert [each.reason for each in verdict.differences] == [
        "the stream counted other rows",
        "the stream counted other reasons",
    ]


@pytest.mark.parametrize(
    ("place", "text", "message"),
    [
        (("results.csv", 0), "n,ms", r"results\.csv: line 1 is not the header"),
        (("results.csv", 5), "7,1,1,1", r"results\.csv: line 6 is not six whole numbers: 7,1,1,1"),
        (("results.csv", 5), "7,1,1,1,1,2", r"results\.csv: line 6 is not six whole numbers"),
        (("states.jsonl", 4), '{"n":7,"state":[["a"', r"states\.jsonl: line 5 is no JSON object"),
    ],
)
def test_a_malformed_line_is_refused_by_number(
    spark: SparkSession, case: Case, place: tuple[str, int], text: str, message: str
) -> None:
    edit(case.folder / place[0], lambda lines: lines.__setitem__(place[1], text))

    with pytest.raises(DataError, match=message):
        compare_run(spark, case.answers, case.folder)


def test_a_run_that_read_the_query_otherwise_is_refused(spark: SparkSession, case: Case) -> None:
    """Its choices are named as `data expected` takes them; those that are the same do not matter."""
    document = json.loads((case.folder / "summary.json").read_text())
    choices = {"nulls": "per-cell", "expiry": "own-rows"}
    (case.folder / "summary.json").write_text(json.dumps({**document, "semantics": choices}))
    with pytest.raises(DataError, match=r"semantics: .* `data expected --semantics expiry=own-rows`"):
        compare_run(spark, case.answers, case.folder)


@pytest.mark.parametrize("name", ["results.csv", "states.jsonl", "tops.csv", "summary.json"])
def test_a_missing_file_is_named(spark: SparkSession, case: Case, name: str) -> None:
    (case.folder / name).unlink()

    with pytest.raises(DataError, match=f"{name}: no such file"):
        compare_run(spark, case.answers, case.folder)


def test_expected_answers_that_are_half_written_are_refused(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such folder"):
        read_answers(spark, tmp_path / "none")
    with pytest.raises(DataError, match=r"holds no summary\.json"):
        read_answers(spark, tmp_path)
    summary = {"file": "f", "rows": 1, "valid": 1, "rejected": {}, "output_rows": 1, "instants": 1}
    (tmp_path / "summary.json").write_text(json.dumps({**summary, "minutes": 1, "blocks": 1}))
    for name in ("passed", "instants", "tops"):
        (tmp_path / f"{name}.parquet").mkdir()
        (tmp_path / f"{name}.parquet" / "_SUCCESS").touch()
    (tmp_path / "passed.parquet" / "_SUCCESS").unlink()
    with pytest.raises(DataError, match=r"passed\.parquet: half written"):
        read_answers(spark, tmp_path)
    (tmp_path / "passed.parquet" / "_SUCCESS").touch()
    (tmp_path / "passed.parquet" / "part-0.parquet").write_bytes(b"PAR1 broken")
    with pytest.raises(DataError, match=r"passed\.parquet: cannot be read"):
        read_answers(spark, tmp_path)
