"""`taxi replay --fast-rows`: rows that go before the pace begins."""

from __future__ import annotations

import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def test_the_pace_begins_when_the_fast_rows_have_results(
    side: Any, write_rows: Callable[..., Path], tmp_path: Path
) -> None:
    """Also if the run was paused before: then the rest of them goes first."""
    path = write_rows(400)
    command = [sys.executable, "-m", "cli.main", "taxi", "replay", str(path), "--speed", "1e6"]
    command += ["--redis", str(side.server.address), "--run", side.run.id, "--fast-rows", "200"]
    paused = subprocess.Popen([*command, "--ahead", "150"], stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    client = side.client()
    while not client.xlen(side.run.rows):
        assert paused.poll() is None
    paused.send_signal(signal.SIGINT)
    _, said = paused.communicate()
    assert said.splitlines()[-1].startswith("stormplace: run r1 is paused after row 150")

    resumed = subprocess.Popen(
        [*command, "--resume"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path
    )
    while len(side.rows()) < 200:
        assert resumed.poll() is None
    assert resumed.poll() is None  # no result is there
    assert client.hget(side.run.feed, "paced_rows") == b"0"
    side.release(400)
    out, _ = resumed.communicate()

    assert resumed.returncode == 0, out
    feed = client.hgetall(side.run.feed)
    assert (feed[b"fast_rows"], feed[b"paced_rows"]) == (b"200", b"200")
    assert side.rows() == path.read_bytes().splitlines()
