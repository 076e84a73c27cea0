"""The commands that make trips tables: what they print, and how they refuse bad input."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from cli.commands import app
from cli.errors import UserError
from replay import session
from replay.output import replaced_folder
from replay.trips.table import finish

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

RUNNER = CliRunner()
LINE = (
    "M,L,2013-01-01 00:00:00,2013-01-01 00:0{minute}:00,120,0.44,-73.956528,40.716976,{end},40.715008,"
    "CSH,3.50,0.50,0.50,0.00,0.00,4.50\n"
)


def refusal(*arguments: str) -> UserError:
    result = RUNNER.invoke(app, ["data", *arguments])
    assert isinstance(result.exception, UserError), result.output
    return result.exception


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("ingest", "{at}/none.csv", "--out", "{at}/out"), "{at}/none.csv: no such file"),
        (("ingest", "{at}/empty.csv", "--out", "{at}/out"), "{at}/empty.csv: the file is empty"),
        (
            ("ingest", "{at}/empty.csv", "--out", "{at}/out", "--format", "xml"),
            "--format: expected one of challenge, agency, events, senml, got 'xml'",
        ),
        (("clean", "{at}/none", "--out", "{at}/out"), "{at}/none: no such folder"),
        (
            ("generate", "--days", "1", "--out", "{at}/out", "--start", "14.1.2013"),
            "--start: expected a day such as 2013-01-14, got '14.1.2013'",
        ),
        (
            ("generate", "--days", "1", "--out", "{at}/out", "--check", "--rows-per-day", "1000"),
            "about 1,000 rows are too few to compare: at least 100,000 are needed",
        ),
        (
            ("generate", "--days", "3000000", "--out", "{at}/out"),
            "days: at most 3,653, ten years, not 3,000,000",
        ),
        (
            ("generate", "--days", "1", "--out", "{at}/empty.csv"),
            "{at}/empty.csv: not a folder",
        ),
        (
            ("generate", "--days", "1", "--out", "{at}/empty.csv/out"),
            "{at}/empty.csv/out: cannot be written: {at}/empty.csv is no folder",
        ),
        (
            ("generate", "--days", "1", "--out", "{at}/out", "--check", "--real", "{at}"),
            "{at}/nyc2013_fullrate_17col_46450.csv.gz: no such file: there are no real rows to compare with",
        ),
    ],
)
def test_bad_input_is_refused_before_spark_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], sentence: str
) -> None:
    monkeypatch.setattr(session, "spark_session", None)
    (tmp_path / "empty.csv").touch()

    error = refusal(*(argument.format(at=tmp_path) for argument in arguments))

    assert str(error) == sentence.format(at=tmp_path)
    assert error.status == 2
    assert [path.name for path in tmp_path.iterdir()] == ["empty.csv"]


@pytest.mark.parametrize("command", ["ingest", "clean"])
def test_a_folder_that_cannot_be_written_is_refused_before_spark_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setattr(session, "spark_session", None)
    source = tmp_path / "rows.csv"
    source.write_text(LINE.format(minute=2, end="-73.962440"))
    if command == "clean":
        source = tmp_path / "table"
        source.mkdir()
        finish(source, {"rows": 0})

    error = refusal(command, str(source), "--out", "/dev/null/out")

    assert str(error) == "/dev/null/out: cannot be written: /dev/null is no folder"


@pytest.mark.parametrize(
    ("written", "sentence"),
    [
        (False, "interrupted: nothing was written, and what was there before is as it was"),
        (True, "interrupted, but {out} was written before and is complete"),
    ],
)
@pytest.mark.parametrize("earlier", [False, True])
def test_ctrl_c_says_whether_the_table_was_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: bool, sentence: str, earlier: bool
) -> None:
    out = tmp_path / "out"

    def write() -> None:
        with replaced_folder(out) as scratch:
            finish(scratch, {"rows": 0})

    @contextmanager
    def interrupted_session(*_: object) -> Iterator[None]:
        yield
        raise KeyboardInterrupt

    def generated(*_: object, **__: object) -> dict[str, int]:
        if written:
            write()
        return {}

    monkeypatch.setattr(session, "spark_session", interrupted_session)
    monkeypatch.setattr("replay.trips.generate.generate", generated)
    if earlier:
        write()

    error = refusal("generate", "--days", "1", "--out", str(out))

    assert str(error) == sentence.format(out=out)
    assert error.status == 130


@pytest.mark.spark
@pytest.mark.usefixtures("shared_session")
def test_ingest_clean_and_generate_say_what_they_did(tmp_path: Path) -> None:
    """Tables of counts by file and by reason, then one line with the rows."""
    source, taken, cleaned = tmp_path / "rows.csv", tmp_path / "taken", tmp_path / "cleaned"
    ends = [(2, "-73.962440"), (1, "0.000000"), (1, "-73.962440"), (1, "-73.962440")]
    source.write_text("".join(LINE.format(minute=minute, end=end) for minute, end in ends) + "torn\n")
    ingested = RUNNER.invoke(app, ["data", "ingest", str(source), "--out", str(taken)])
    assert ingested.exit_code == 0, ingested.output
    assert "columns 1" in ingested.stdout
    assert f"4 trips in {taken}" in ingested.stdout

    cleaning = RUNNER.invoke(app, ["data", "clean", str(taken), "--out", str(cleaned)])
    assert cleaning.exit_code == 0, cleaning.output
    for reason in ("zero coordinates", "duplicates"):
        row = next(line for line in cleaning.stdout.splitlines() if reason in line)
        assert row.split("│")[2:4] == [f"{1:>6} ", f"{25:>7.3f} "]
    assert f"2 of 4 trips in {cleaned}" in cleaning.stdout

    options = ["--days", "2", "--rows-per-day", "300", "--out", str(tmp_path / "made"), "--csv"]
    made = RUNNER.invoke(app, ["data", "generate", *options])
    assert made.exit_code == 0, made.output
    assert f"trips of 2 days in {tmp_path / 'made'}" in made.stdout
    assert len(list((tmp_path / "made" / "csv").iterdir())) == 2

    (taken / "_SUCCESS").unlink()
    error = refusal("clean", str(taken), "--out", str(cleaned))
    assert "no complete trips table (_SUCCESS is missing)" in str(error)
