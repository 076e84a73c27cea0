"""The group `lab` without a lab: what it refuses, and what it says where nothing runs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from cli.interrupt import INTERRUPTED_STATUS
from lab.cluster import LabClient

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    Command = Callable[..., tuple[int, str, str]]

GOOD = """
[[site]]
name = "a"
supervisors = 1
slots = 1
services = true
"""


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["up", "--sites", "absent.toml"], "site file absent.toml: No such file or directory"),
        (["delay", "a", "b", "5"], "no lab is running in "),
        (["delay", "a", "b", "--", "-5"], "a delay is a number from 0 to 60000 ms, not -5.0"),
        (["delay", "a", "b", "-5"], "a delay is a number from 0 to 60000 ms, not -5.0"),
        (["isolate", "a"], "no lab is running in "),
        (["rejoin", "a"], "no lab is running in "),
        (["exec", "a-1", "--", "true"], "no lab is running in "),
        (["scheduler", "even"], "no lab is running in "),
        (["logs", "nimbus"], "no lab has been started in "),
        (["logs"], "no lab has been started in "),
    ],
)
def test_bad_input_is_one_sentence_and_a_status(
    stormplace: Command, tmp_path: Path, arguments: list[str], sentence: str
) -> None:
    """No command of the group answers bad input with a trace or with success."""
    command, *rest = arguments
    status, _, err = stormplace("lab", command, "--dir", tmp_path, *rest)
    assert status == 2
    assert err.startswith(f"stormplace: {sentence}")
    assert len(err.splitlines()) == 1


def test_a_refusal_is_the_exit_status_of_the_process(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "cli.main", "lab", "isolate", "--dir", str(tmp_path), "a"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("stormplace: no lab is running in ")
    assert len(done.stderr.splitlines()) == 1


def test_a_wrong_site_file_is_refused_before_anything_is_written(stormplace: Command, tmp_path: Path) -> None:
    """After a refusal the state folder does not even exist."""
    sites = tmp_path / "sites.toml"
    sites.write_text(GOOD.replace("slots = 1", "slots = 0"), encoding="utf-8")
    status, _, err = stormplace("lab", "up", "--dir", tmp_path / "lab", "--sites", sites)
    assert status == 2
    assert err.startswith(f"stormplace: site file {sites}: site[0].slots: ")
    assert not (tmp_path / "lab").exists()


def test_nothing_running_is_no_error_for_down_and_status(stormplace: Command, tmp_path: Path) -> None:
    """Taking down or looking at no lab says so and succeeds."""
    for command in ("down", "status"):
        status, out, _ = stormplace("lab", command, "--dir", tmp_path)
        assert (status, out) == (0, "nothing is running\n")
    status, out, _ = stormplace("lab", "status", "--dir", tmp_path, "--json")
    assert (status, json.loads(out)["state"]) == (0, "absent")


@pytest.mark.parametrize(
    ("at_end", "expected"), [("exit 7", 7), ("exit 0", 0), ("exit 1", INTERRUPTED_STATUS)]
)
@pytest.mark.parametrize("presses", [1, 2])
def test_ctrl_c_while_a_command_starts_is_the_commands(
    stormplace: Command, monkeypatch: pytest.MonkeyPatch, at_end: str, expected: int, presses: int
) -> None:
    """However early and often Ctrl-C comes, the command's status is the one that counts."""

    def started(_client: LabClient, _host: str, argv: Sequence[str], **_: Any) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(argv)
        for _press in range(presses):
            os.kill(os.getpid(), signal.SIGINT)
        return process

    monkeypatch.setattr(LabClient, "exec", started)
    before = signal.getsignal(signal.SIGINT)
    status, _, err = stormplace("lab", "exec", "near-1", "--", "sh", "-c", at_end)
    assert (status, err) == (expected, "")
    assert signal.getsignal(signal.SIGINT) is before
