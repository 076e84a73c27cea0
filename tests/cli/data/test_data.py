"""The data commands: what they print, and how they refuse bad input."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from cli.commands import app
from cli.errors import UserError
from replay import session

if TYPE_CHECKING:
    from pathlib import Path

RUNNER = CliRunner()
LINE = (
    "M,L,2013-01-01 00:00:00,2013-01-01 00:0{minute}:00,120,0.44,-73.956528,40.716976,-73.962440,40.715008,"
    "CSH,3.50,0.50,0.50,0.00,0.00,4.50\n"
)

HEADER = "n,row_ms,emit_us,done_us,result_ms,paced\n"


def refusal(*arguments: str) -> UserError:
    """Return the error of a refused command."""
    result = RUNNER.invoke(app, ["data", *arguments])
    assert isinstance(result.exception, UserError), result.output
    return result.exception


@pytest.mark.parametrize(("content", "message"), [(None, "no such file"), (b"", "the file is empty")])
def test_a_missing_or_empty_file_is_named(tmp_path: Path, content: bytes | None, message: str) -> None:
    """Before Spark is started."""
    source = tmp_path / "rows.csv"
    if content is not None:
        source.write_bytes(content)

    error = refusal("expected", str(source), "--out", str(tmp_path / "out"))

    assert str(error) == f"{source}: {message}"
    assert error.status == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--query", "3"), "--query 3: expected 1, 2 or 1,2"),
        (("--query", "1,1"), "--query 1,1: expected 1, 2 or 1,2"),
        (("--semantics", "median=mean"), "semantics: median: mean is none of exact, cents"),
    ],
)
def test_what_cannot_be_computed_is_refused(tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    """Before Spark is started."""
    (tmp_path / "rows.csv").write_text(LINE)

    error = refusal("expected", str(tmp_path / "rows.csv"), "--out", str(tmp_path / "out"), *arguments)

    assert str(error) == message


@pytest.mark.parametrize(
    ("memory", "message"),
    [
        ("lots", "--driver-memory: expected a number and k, m, g or t, such as 2g, got 'lots'"),
        ("2", "--driver-memory: expected a number and k, m, g or t, such as 2g, got '2'"),
        ("300m", "--driver-memory: Spark needs at least 512m, got 300m"),
        ("524287k", "--driver-memory: Spark needs at least 512m, got 524287k"),
    ],
)
def test_too_small_a_heap_is_refused(tmp_path: Path, memory: str, message: str) -> None:
    """Before Java refuses it in words of its own."""
    (tmp_path / "rows.csv").write_text(LINE)

    error = refusal(
        "expected", str(tmp_path / "rows.csv"), "--out", str(tmp_path / "out"), "--driver-memory", memory
    )

    assert str(error) == message


def test_a_folder_that_is_no_trips_table_is_refused(tmp_path: Path) -> None:
    error = refusal("expected", str(tmp_path), "--out", str(tmp_path / "out"))

    assert f"{tmp_path}: no complete trips table (summary.json is missing)" in str(error)


def test_a_missing_java_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)

    (tmp_path / "results.csv").write_text(HEADER)
    error = refusal("latency", "--stream", str(tmp_path))

    assert str(error) == "Spark needs Java 17 or newer, but there is no program `java` on PATH"
    assert error.status == 2


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("latency", "--stream", "{at}/none"), "{at}/none/results.csv: no such file"),
        (("latency", "--stream", "{at}", "--out", "{at}"), "{at}: is a folder"),
        (
            ("latency", "--stream", "{at}", "--out", "{at}/results.csv/out"),
            "{at}/results.csv/out: cannot be written: {at}/results.csv is no folder",
        ),
        (("compare", "--expected", "{at}", "--stream", "{at}/none"), "{at}/none/results.csv: no such file"),
        (
            ("compare", "--expected", "{at}/none", "--stream", "{at}"),
            "{at}/none: no such folder of expected answers",
        ),
        (("expected", "{at}/rows.csv", "--out", "{at}/rows.csv"), "{at}/rows.csv: not a folder"),
        (("analyse", "{at}", "--out", "{at}/rows.csv"), "{at}/rows.csv: not a folder"),
    ],
)
def test_a_missing_folder_and_an_unwritable_output_are_refused_before_spark_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], sentence: str
) -> None:
    monkeypatch.setattr(session, "spark_session", None)
    (tmp_path / "rows.csv").write_text(LINE.format(minute=1))
    (tmp_path / "results.csv").write_text(HEADER)

    error = refusal(*(argument.format(at=tmp_path) for argument in arguments))

    assert str(error) == sentence.format(at=tmp_path)
    assert error.status == 2


@pytest.mark.spark
@pytest.mark.usefixtures("shared_session")
def test_expected_then_latency_and_compare(tmp_path: Path) -> None:
    """A run that answered other rows is different: exit status 1, the first difference named."""
    source, out, run = tmp_path / "rows.csv.gz", tmp_path / "expected", tmp_path / "run"
    source.write_bytes(gzip.compress("".join(LINE.format(minute=m) for m in (1, 1, 2)).encode()))
    run.mkdir()
    (run / "results.csv").write_text(
        "n,row_ms,emit_us,done_us,result_ms,paced\n1,100,100000,107000,109,1\n2,200,200000,207000,211,1\n"
    )
    state = '[["160.170-159.170",%d]]'
    (run / "states.jsonl").write_text("".join(f'{{"n":{n},"state":{state % n}}}\n' for n in (2, 3)))
    (run / "tops.csv").write_text("")
    (run / "summary.json").write_text('{"rows": 3, "passed": 3, "rejected": 0}')
    answered = RUNNER.invoke(app, ["data", "expected", str(source), "--out", str(out)])
    assert answered.exit_code == 0, answered.output
    summary = "rows 3, valid 3, rejected: none; output rows 1, instants 2, minutes 2"
    assert f"query 1: {summary}" in answered.stdout
    assert "query 1: " not in answered.stderr

    measured = RUNNER.invoke(app, ["data", "latency", "--stream", str(run)])
    assert measured.exit_code == 0, measured.output
    assert "10.0" in measured.stdout

    verdict = tmp_path / "verdict.json"
    arguments = ["data", "compare", "--expected", str(out), "--stream", str(run), "--out", str(verdict)]
    compared = RUNNER.invoke(app, arguments)
    assert isinstance(compared.exception, UserError)
    assert compared.exception.status == 1
    assert "row 3, instant 2013-01-01 00:02:00: a row that passes has no answer" in compared.stdout
    assert verdict.exists()

    source.write_bytes(source.read_bytes()[:60])
    error = refusal("expected", str(source), "--out", str(out))
    assert f"{source}: the packed data are cut short after line" in str(error)
    assert error.status == 2
