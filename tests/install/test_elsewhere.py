"""The program runs from an installed wheel, in any folder, and says what it can do in a checkout only."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.programs

EXAMPLE = Path(__file__).parents[2] / "benchmarks" / "instances" / "sequential-100.json"
PROGRAM = ("-m", "cli.main")
NEED_THE_TREE = [
    ("lab", "up"),
    ("lab", "status"),
    ("demo",),
    ("evaluate",),
    ("experiment", "response-time"),
    ("experiment", "adaptation"),
    ("data", "generate", "--days", "1", "--out", "table", "--check"),
]
ONE_AFTER_THE_OTHER = """
import sys
from cli.main import main

for arguments in {commands!r}:
    sys.argv = ["stormplace", *arguments]
    try:
        main()
    except SystemExit as end:
        print(end.code)
"""


def test_solve_places_a_problem(elsewhere, tmp_path):
    """The modules that ran are those of the wheel."""
    shutil.copy(EXAMPLE, tmp_path / "problem.json")
    done = elsewhere(*PROGRAM, "solve", "problem.json", "--strategy", "greedy", "--json")

    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["status"] == "feasible"


def test_the_long_running_commands_find_their_files(elsewhere, installed):
    """Thrift's descriptions and the city's statistics are read when these modules load."""
    modules = (
        "bridge.wire.contract",
        "monitoring.rates.nimbus",
        "lab.observer",
        "replay.session",
        "replay.trips.city",
    )
    script = f"import {', '.join(modules)}; print(bridge.__path__[0], replay.session.LOGGING.is_file())"
    done = elsewhere("-c", script)

    assert (done.stdout.split(), done.stderr) == ([str(installed / "bridge"), "True"], "")


def test_what_needs_the_source_tree_says_so(elsewhere, tmp_path):
    """Each command in one sentence, with nothing written."""
    done = elsewhere("-c", ONE_AFTER_THE_OTHER.format(commands=NEED_THE_TREE))

    assert (done.returncode, done.stdout) == (0, "".join(f"{end}\n" for end in [2] * len(NEED_THE_TREE)))
    sentences = done.stderr.splitlines()
    assert len(sentences) == len(NEED_THE_TREE)
    assert all(": works only from a checkout of Stormplace" in sentence for sentence in sentences), sentences
    assert list(tmp_path.iterdir()) == []


def test_results_do_not_carry_the_commit_of_a_repository_around_the_installed_program(elsewhere, installed):
    """As in an environment that lies in another project's folder."""
    git = ("git", "-C", installed.parent, "-c", "user.name=n", "-c", "user.email=e")
    subprocess.run([*git, "init", "-q"], check=True)
    try:
        subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "Begin"], check=True)
        done = elsewhere("-c", "from experiments.machine import provenance; print(provenance().commit)")
    finally:
        shutil.rmtree(installed.parent / ".git")

    assert (done.stdout, done.stderr) == ("unknown\n", "")
