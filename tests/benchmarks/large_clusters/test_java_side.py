"""The Java side is read line by line, its failure is shown, and it does not outlive its reader."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import psutil
import pytest

from benchmarks.large_clusters.java_side import OverdueError, Spec, run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SPEC = Spec("recorded-03", "recorded-03", ["ras"], {"stormplace.daemon.port": 7})


@pytest.fixture
def java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Put a program named `java` first on the PATH; its last argument is the specification's file."""

    def write(script: str) -> None:
        program = tmp_path / "bin" / "java"
        program.parent.mkdir()
        program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")

    return write


def test_lines_of_json_are_figures(tmp_path: Path, java: Callable[[str], None]) -> None:
    java("echo some library says hello\necho '{\"seconds\": [1.5]}'\necho '{}'")
    assert list(run("classes", SPEC, tmp_path)) == [{"seconds": [1.5]}, {}]
    written = json.loads((tmp_path / "spec.json").read_text(encoding="utf-8"))
    assert written["folder"] == str(tmp_path)
    assert written["nimbus"] == {"stormplace.daemon.port": 7}


def test_a_failure_is_shown(tmp_path: Path, java: Callable[[str], None]) -> None:
    java("echo '{}'\necho out of memory >&2\nexit 3")
    with pytest.raises(SystemExit, match=r"ended with status 3:\nout of memory"):
        list(run("classes", SPEC, tmp_path))


def test_it_ends_with_its_reader(tmp_path: Path, java: Callable[[str], None]) -> None:
    java('echo "{\\"pid\\": $$}"\nexec sleep 1000')
    figures = run("classes", SPEC, tmp_path)
    pid = next(figures)["pid"]
    assert psutil.pid_exists(pid)
    figures.close()
    assert not psutil.pid_exists(pid)


def test_a_round_that_takes_too_long_ends_it(tmp_path: Path, java: Callable[[str], None]) -> None:
    java("""echo '{}'
    echo '{"round_of": "ras"}'
    exec sleep 1000""")
    figures = run("classes", SPEC, tmp_path, limit_s=0.2)
    assert next(figures) == {}
    with pytest.raises(OverdueError) as overdue:
        next(figures)
    assert overdue.value.scheduler == "ras"


def test_a_round_within_the_limit_is_left_alone(tmp_path: Path, java: Callable[[str], None]) -> None:
    java("""echo '{"round_of": "ras"}'
    echo '{"seconds": [1.5]}'""")
    assert list(run("classes", SPEC, tmp_path, limit_s=1000)) == [{"seconds": [1.5]}]
