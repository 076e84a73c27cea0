"""`data sweep`: what is refused before Spark starts, Ctrl-C in the middle, and going on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from cli.commands import app
from cli.errors import UserError
from cli.interrupt import INTERRUPTED_STATUS

if TYPE_CHECKING:
    from pathlib import Path

RUNNER = CliRunner()
INSTANCE = {
    "application": {"operators": [{"name": "one", "execution_time_ms": 1.0}]},
    "network": {"nodes": [{"name": "a", "capacity": {"slots": 1}}], "delay_ms": [[0.0]]},
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "one.json"
    path.write_text(json.dumps(INSTANCE))
    return path


def refusal(monkeypatch: pytest.MonkeyPatch, *arguments: str | Path) -> str:
    """Return the sentence of a refused sweep; it would not find Java, had it come to start Spark."""
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    result = RUNNER.invoke(app, ["data", "sweep", *(str(each) for each in arguments)])
    assert isinstance(result.exception, UserError), result.output
    assert result.exception.status == 2
    return str(result.exception)


def test_a_bad_instance_is_named_with_its_json_path(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = tmp_path / "bad.json"
    bad.write_text(json.dumps(INSTANCE | {"network": {"nodes": [{"name": "a"}], "delay_ms": [[0.0]]}}))
    out = tmp_path / "out"

    sentence = refusal(monkeypatch, file, bad, "--strategies", "greedy", "--out", out)

    assert sentence == f'{bad}: $.network.nodes[0]: "capacity" is missing'
    assert not out.exists()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--strategies", "greedy,none"), '--strategies: unknown strategy "none"'),
        (("--strategies", "greedy", "--seeds", "4-2"), "--seeds: the range 4-2 is empty"),
        (("--strategies", "greedy", "--time-limit", "0"), "--time-limit: expected a number of seconds > 0"),
    ],
)
def test_bad_options_are_refused(
    file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: tuple[str, ...],
    sentence: str,
) -> None:
    assert refusal(monkeypatch, file, "--out", tmp_path / "out", *options).startswith(sentence)


@pytest.mark.spark
def test_after_ctrl_c_the_same_command_goes_on(file: Path, tmp_path: Path) -> None:
    """What was finished is kept; only whole parts are left."""
    out = tmp_path / "out"
    # 60 runs of half a second each on one core: Ctrl-C comes long before the end
    options = ["--strategies", "ils", "--seeds", "0-59", "--time-limit", "0.5", "--master", "local[1]"]
    command = [sys.executable, "-m", "cli.main", "data", "sweep", str(file), "--out", str(out), *options]
    started = subprocess.Popen(command, start_new_session=True, stderr=subprocess.PIPE, text=True)
    while len(list(out.glob("parts/[!.]*.parquet"))) < 2:
        assert started.poll() is None, started.communicate()[1]
        time.sleep(0.05)
    os.killpg(started.pid, signal.SIGINT)
    _, said = started.communicate(timeout=60)

    assert started.returncode == INTERRUPTED_STATUS
    kept = {path.name: path.stat().st_mtime_ns for path in out.glob("parts/[!.]*.parquet")}
    assert 2 <= len(kept) < 60
    assert f"stormplace: interrupted: {len(kept)} of 60 runs are finished" in said
    assert "Traceback" not in said

    fewer = [text if text != "0-59" else "0-9" for text in command]
    again = subprocess.run(fewer, capture_output=True, text=True, check=False)

    assert again.returncode == 0, again.stderr
    now = {path.name: path.stat().st_mtime_ns for path in out.glob("parts/[!.]*.parquet")}
    assert {name: now[name] for name in kept} == kept
    assert len(now) >= 10
