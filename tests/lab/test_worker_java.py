"""How supervisors of the lab start workers: without Storm's log writer in front of them."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from lab.places import WORKER_JAVA

if TYPE_CHECKING:
    from pathlib import Path

JAVA = WORKER_JAVA / "bin/java"
WORKER = ("-server", "-Dlogfile.name=of-worker", "io.Worker", "topology 1", "6700")


def called(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Call it with a Java on the path that says what it was asked for, a word in each line, and fails."""
    java = folder / "java"
    java.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\necho trouble >&2\nexit 7\n', encoding="utf-8")
    java.chmod(0o755)
    path = {"PATH": f"{folder}:/usr/bin:/bin"}
    return subprocess.run([JAVA, *arguments], env=path, capture_output=True, text=True, check=False)


def test_a_worker_starts_at_once_and_what_it_prints_is_where_a_log_writer_has_it(tmp_path: Path) -> None:
    logs = tmp_path / "work ers" / "words-1" / "6700"
    logs.mkdir(parents=True)
    (logs / "worker.log.out").write_text("before\n", encoding="utf-8")
    found = called(
        tmp_path,
        *("-cp", "lib/*", f"-Dworkers.artifacts={tmp_path / 'work ers'}", "-Dstorm.id=words-1"),
        *("-Dworker.port=6700", "-Dlogfile.name=worker.log", "org.apache.storm.LogWriter"),
        *(str(JAVA), *WORKER),
    )
    assert (found.returncode, found.stdout, found.stderr) == (7, "", "")
    assert (logs / "worker.log.out").read_text("utf-8").splitlines() == ["before", *WORKER]
    assert (logs / "worker.log.err").read_text("utf-8") == "trouble\n"


def test_whatever_else_is_started_is_started_as_it_is(tmp_path: Path) -> None:
    found = called(tmp_path, *WORKER)
    assert (found.returncode, found.stdout.splitlines(), found.stderr) == (7, list(WORKER), "trouble\n")
