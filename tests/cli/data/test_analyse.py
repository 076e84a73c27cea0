"""`data analyse`: what is refused before Spark starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from cli.commands import app
from cli.errors import UserError

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--split", "soon"), "--split: 'soon' is neither a number of seconds nor a time"),
        (("--sites", "/nowhere.toml"), "site file /nowhere.toml: No such file or directory"),
    ],
)
def test_bad_options_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], sentence: str
) -> None:
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    (tmp_path / "results.csv").touch()
    out = tmp_path / "out"

    result = CliRunner().invoke(app, ["data", "analyse", str(tmp_path), "--out", str(out), *options])

    assert isinstance(result.exception, UserError), result.output
    assert str(result.exception).startswith(sentence)
    assert result.exception.status == 2
    assert not out.exists()


def test_a_folder_that_is_no_run_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", "/nowhere")

    result = CliRunner().invoke(app, ["data", "analyse", str(tmp_path), "--out", str(tmp_path / "out")])

    assert str(result.exception).startswith(f"{tmp_path}: holds no results.csv")
