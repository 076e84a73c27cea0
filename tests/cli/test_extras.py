"""Libraries of extras: no command loads them that works without, and their absence is one sentence."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from cli.errors import UserError
from cli.extras import EXTRA_OF, lacks_extra, require_all_extras
from tests.scripted_server import closed_port

pytestmark = pytest.mark.programs

PROJECT = Path(__file__).parents[2]
EXTRAS = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
    "optional-dependencies"
]
EXAMPLE = PROJECT / "benchmarks" / "instances" / "sequential-100.json"
NOT_INSTALLED = """
from importlib.machinery import PathFinder

find = PathFinder.find_spec

def find_spec(name, *others):
    return None if name.partition(".")[0] in {modules!r} else find(name, *others)

PathFinder.find_spec = find_spec
"""
NOT_IMPORTED_BY_US = {"setuptools", "stormplace"}
NOT_DECLARED_BY_US = {"pystorm"}  # streamparse brings it
MODULE_OF = {"kafka-python": "kafka"}  # all others are called as what brings them


BASE_COMMANDS = [
    ("--help",),
    ("agent", "--host", "one", "--zookeeper", "no port"),
    ("rates", "--nimbus", "no port", "--zookeeper", "no port"),
    ("daemon", "--config", "no-such-file"),
    ("network", "--readings", "no-such-file"),
    ("solve", str(EXAMPLE), "--strategy", "odp", "--time-limit", "1"),
    ("instance", "generate", "--help"),
]
ONE_AFTER_THE_OTHER = """
import sys
from cli.main import main

for arguments in {commands!r}:
    sys.argv = ["stormplace", *arguments]
    print("run", *arguments, file=sys.stderr, flush=True)
    try:
        main()
    except SystemExit as end:
        print("status", end.code or 0, file=sys.stderr, flush=True)
"""


def without(modules: set[str], at: Path, *python: str) -> subprocess.CompletedProcess[str]:
    """Run Python as if these modules were not installed."""
    (at / "sitecustomize.py").write_text(NOT_INSTALLED.format(modules=modules), encoding="utf-8")
    return subprocess.run(
        [sys.executable, *python],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(at), os.environ.get("PYTHONPATH", "")])},
        capture_output=True,
        text=True,
        check=False,
    )


def test_commands_of_the_base_install_load_no_library_of_an_extra(tmp_path):
    """Also not in passing: they would be slower and larger where the library is there."""
    script = ONE_AFTER_THE_OTHER.format(commands=BASE_COMMANDS)
    done = without(set(EXTRA_OF), tmp_path, "-c", script)

    assert "not installed" not in done.stderr
    assert "Traceback" not in done.stderr
    statuses = [line for line in done.stderr.splitlines() if line.startswith("status ")]
    assert statuses == ["status 0", *["status 2"] * 4, "status 0", "status 0"], done.stderr


@pytest.mark.parametrize(
    ("missing", "extra", "arguments"),
    [
        ("pyspark", "data", ("data", "generate", "--days", "1", "--out", "table")),
        ("pyarrow", "data", ("data", "clean", "table", "--out", "other")),
        ("streamparse", "topologies", ("taxi", "kill", "--nimbus", "no.host.invalid:1", "--name", "taxi")),
        ("redis", "topologies", ("taxi", "collect", "--redis", "h:1", "--run", "one", "--out", "runs")),
        ("matplotlib", "reports", ("network", "--readings", "no-such-file", "--plot", "map.png")),
        ("matplotlib", "all", ("demo",)),
        ("pyspark", "all", ("evaluate",)),
        ("redis", "all", ("experiment", "response-time")),
    ],
)
def test_a_command_without_its_library_names_the_extra_in_one_sentence(tmp_path, missing, extra, arguments):
    """Before it has done anything else."""
    done = without({missing}, tmp_path, "-m", "cli.main", *arguments)

    sentence = f"stormplace: {missing} is not installed: pip install 'stormplace[{extra}]'\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", sentence)


@pytest.mark.parametrize(
    ("missing", "extra", "lag"),
    [
        ("kafka", "kafka", 'kind = "kafka"\nbootstrap = ["h:1"]\ntopics = ["t"]\ngroup = "g"'),
        ("redis", "topologies", 'kind = "redis"\naddress = "h:1"\nkey = "k"'),
    ],
)
def test_a_source_without_its_library_is_refused_before_the_first_round(tmp_path, missing, extra, lag):
    settings = tmp_path / "elastic.toml"
    settings.write_text(
        f'state_directory = "{tmp_path}"\ngraphite = "127.0.0.1:{closed_port()}"\n'
        f"[[topology.t.lag]]\n{lag}\n",
        encoding="utf-8",
    )
    done = without({missing}, tmp_path, "-m", "cli.main", "elastic", "--config", str(settings))

    sentence = f"stormplace: {missing} is not installed: pip install 'stormplace[{extra}]'\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", sentence)


def test_every_library_of_an_extra_is_known_by_an_extra_that_brings_it():
    """What pyproject.toml declares and what a refusal recommends are the same."""
    declared = {
        (MODULE_OF.get(Requirement(text).name, Requirement(text).name), extra)
        for extra in ("data", "kafka", "topologies", "reports")
        for text in EXTRAS[extra]
        if Requirement(text).name not in NOT_IMPORTED_BY_US
    }
    known = {(module, extra) for module, extra in EXTRA_OF.items() if module not in NOT_DECLARED_BY_US}

    assert known <= declared
    assert {module for module, _ in declared} == {module for module, _ in known}


def test_a_module_that_no_extra_brings_is_no_matter_of_installing_one():
    """It is a fault of the program, which shows its trace."""
    assert lacks_extra(ModuleNotFoundError("No module named 'cli.nothing'", name="cli.nothing")) is None
    assert lacks_extra(ModuleNotFoundError("no name")) is None


def test_several_missing_libraries_are_named_at_once(monkeypatch):
    """So that one installation mends it."""
    monkeypatch.setattr(
        "cli.extras.EXTRA_OF", {"no_such_module": "data", "sys": "data", "nor_this": "reports"}
    )

    with pytest.raises(
        UserError, match=r"^no_such_module, nor_this are not installed: .*stormplace\[all\]'$"
    ):
        require_all_extras()
