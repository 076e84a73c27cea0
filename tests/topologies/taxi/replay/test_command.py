"""`taxi replay` as a process: it pauses when it is asked to, and goes on after it was killed."""

from __future__ import annotations

import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class Replays:
    """Starts the command in a folder of its own."""

    def __init__(self, side: Any, folder: Path) -> None:
        self._side = side
        self._folder = folder

    def start(self, file: Path, *options: str) -> subprocess.Popen[str]:
        arguments = ["taxi", "replay", str(file), "--redis", str(self._side.server.address)]
        return subprocess.Popen(
            [sys.executable, "-m", "cli.main", *arguments, "--run", self._side.run.id, *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self._folder,
        )

    def run(self, file: Path, *options: str) -> tuple[int, str, str]:
        process = self.start(file, *options)
        out, err = process.communicate()
        return process.returncode, out, err

    def await_rows(self, count: int) -> None:
        """Wait until so many rows are in Redis."""
        client = self._side.client()
        at = "0"
        rows = 0
        while rows < count:
            for _, entries in client.xread({self._side.run.rows: at}, block=1_000) or []:
                for entry_id, fields in entries:
                    at = entry_id
                    rows += fields[b"lines"].count(b"\n") + 1


@pytest.fixture
def replays(side: Any, tmp_path: Path) -> Replays:
    return Replays(side, tmp_path)


def test_a_killed_replay_goes_on_at_the_right_row(
    side: Any, replays: Replays, write_rows: Callable[..., Path]
) -> None:
    """Its rows are there once; without --resume they are left alone."""
    path = write_rows(2_000)
    process = replays.start(path, "--fast", "--ahead", "500")
    replays.await_rows(500)
    process.kill()
    process.communicate()
    assert len(side.rows()) == 500
    side.release(2_000)
    status, _, err = replays.run(path, "--fast")
    assert (status, "run r1 has rows already" in err) == (1, True)
    status, out, err = replays.run(path, "--fast", "--resume")
    assert (status, err.strip().splitlines()) == (0, [])
    assert out.startswith("run r1: 2000 rows fed, 500 of them before; 1500 rows in ")
    assert side.rows() == path.read_bytes().splitlines()
    assert side.ended()
    status, out, _ = replays.run(path, "--fast", "--resume")
    assert (status, out) == (0, "run r1 has all 2000 rows and their end\n")


@pytest.mark.parametrize("wish", [signal.SIGTERM, signal.SIGINT])
def test_a_replay_pauses_when_it_is_asked_to(
    side: Any, replays: Replays, write_rows: Callable[..., Path], tmp_path: Path, wish: signal.Signals
) -> None:
    """With status 130 and a sentence; malformed rows so far are reported and kept once."""
    path = write_rows(400)
    lines = path.read_bytes().splitlines()
    lines[1] = b"x,y"
    path.write_bytes(b"\n".join(lines))
    side.release(400)
    process = replays.start(path, "--speed", "1")
    replays.await_rows(2)
    process.send_signal(wish)
    out, err = process.communicate()
    fed = len(side.rows())
    assert (process.returncode, out) == (130, "")
    assert err.splitlines()[-1] == (
        f"stormplace: run r1 is paused after row {fed}; malformed rows in r1-rejects.csv: 1 (columns 1): "
        "go on with the same command and --resume"
    )
    assert 2 <= fed < 400
    status, out, _ = replays.run(path, "--speed", "1e6", "--resume")
    assert status == 0
    assert out.endswith("ms at most); malformed rows in r1-rejects.csv: 1 (columns 1)\n")
    assert side.rows() == lines
    assert (tmp_path / "r1-rejects.csv").read_text() == '"line","reason","text"\n2,"columns","x,y"\n'
