"""Running `stormplace` in this process."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from cli.main import main

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession


@pytest.fixture
def stormplace(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[int, str, str]]:
    """Run `stormplace ...` in this process; returns status, standard output and standard error."""

    def run_main(*arguments: str | Path) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["stormplace", *map(str, arguments)])
        with pytest.raises(SystemExit) as caught:
            main()
        output = capsys.readouterr()
        return int(caught.value.code or 0), output.out, output.err

    return run_main


@pytest.fixture
def run(stormplace: Callable[..., tuple[int, str, str]]) -> Any:
    """Run `stormplace solve ...` in this process; returns status, standard output and standard error."""
    return lambda *arguments: stormplace("solve", *arguments)


@pytest.fixture
def shared_session(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let commands of this process use the tests' one session, and leave it running."""

    @contextmanager
    def shared(*_: object) -> Iterator[SparkSession]:
        yield spark

    monkeypatch.setattr("replay.session.spark_session", shared)
    monkeypatch.setattr("experiments.evaluation.taxi_rows.spark_session", shared)
