from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

GOOD = """
[[site]]
name = "a"
supervisors = 1
slots = 1
services = true
"""


def stormplace(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "cli.main", "lab", *arguments], capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["up", "--sites", "absent.toml"], "site file absent.toml: No such file or directory"),
        (["delay", "a", "b", "5"], "no lab is running in "),
        (["delay", "a", "b", "--", "-5"], "a delay is a number from 0 to 60000 ms, not -5.0"),
        (["isolate", "a"], "no lab is running in "),
        (["rejoin", "a"], "no lab is running in "),
        (["exec", "a-1", "--", "true"], "no lab is running in "),
        (["scheduler", "even"], "no lab is running in "),
        (["logs", "nimbus"], "no log is named 'nimbus'"),
    ],
)
def test_bad_input_is_one_sentence_and_a_status(tmp_path: Path, arguments: list[str], sentence: str) -> None:
    """No command of the group answers bad input with a trace or with success."""
    command, *rest = arguments
    done = stormplace(command, "--dir", str(tmp_path), *rest)
    assert done.returncode == 2
    assert done.stderr.startswith(f"stormplace: {sentence}")
    assert len(done.stderr.splitlines()) == 1


def test_a_wrong_site_file_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    """After a refusal the state folder does not even exist."""
    sites = tmp_path / "sites.toml"
    sites.write_text(GOOD.replace("slots = 1", "slots = 0"), encoding="utf-8")
    done = stormplace("up", "--dir", str(tmp_path / "lab"), "--sites", str(sites))
    assert done.returncode == 2
    assert done.stderr.startswith(f"stormplace: site file {sites}: site[0].slots: ")
    assert not (tmp_path / "lab").exists()


def test_nothing_running_is_no_error_for_down_and_status(tmp_path: Path) -> None:
    """Taking down or looking at no lab says so and succeeds."""
    for command in ("down", "status"):
        done = stormplace(command, "--dir", str(tmp_path))
        assert (done.returncode, done.stdout) == (0, "nothing is running\n")
    done = stormplace("status", "--dir", str(tmp_path), "--json")
    assert (done.returncode, json.loads(done.stdout)["state"]) == (0, "absent")
