"""`experiment lab-tiers`: what it refuses, and the report written anew from kept files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from typer.testing import CliRunner

from cli.commands import app
from cli.errors import UserError
from tests.experiments.lab_tiers.made import SITES, Made, write_turn

if TYPE_CHECKING:
    from pathlib import Path


def test_what_cannot_be_run_is_refused_with_its_option(tmp_path: Path) -> None:
    """Before any lab starts."""
    command = ["experiment", "lab-tiers", "--out", str(tmp_path / "out")]
    for options, message in (
        (["--only", "best"], "--only: 'best' is not one of cloud-greedy"),
        (["--data", "nowhere.csv"], "--data: no such file: nowhere.csv"),
        (["--sites", str(SITES.parent / "demo.toml")], "uniroma2 needs tier and unit_cost"),
        (["--first-rows", "46450"], "--first-rows, --warm-up-s: of the 46450 rows"),
    ):
        result = CliRunner().invoke(app, [*command, *options])
        assert isinstance(result.exception, UserError)
        assert message in str(result.exception)
        assert result.exception.status == 2
    assert not (tmp_path / "out").exists()


def test_the_report_is_written_anew(tmp_path: Path) -> None:
    write_turn(tmp_path, "inop-search", Made())
    result = CliRunner().invoke(app, ["experiment", "report", str(tmp_path)])
    assert result.exit_code == 0, result.output
    assert result.output == f"report: {tmp_path / 'report' / 'report.md'}\n"
