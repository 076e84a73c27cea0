"""The program's first moments: Ctrl-C ends it at once, whatever is being loaded."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

EXAMPLE = Path(__file__).parents[2] / "benchmarks" / "instances" / "sequential-100.json"
STOPPED_AT_IMPORT = """
import sys
from importlib.metadata import version

class Finder:
    def find_spec(self, name, *_):
        if name == {module!r}:
            sys.stdout.write("here")
            sys.stdout.flush()
            sys.stdin.read()

sys.meta_path.insert(0, Finder())
"""


@pytest.mark.parametrize(
    ("module", "arguments"),
    [
        ("cli.commands", ["--help"]),
        ("typer", ["taxi", "--help"]),
        ("lab.errors", ["lab", "status"]),
        ("scheduler.registry", ["solve", str(EXAMPLE), "--strategy", "greedy"]),
        ("numpy", ["solve", str(EXAMPLE), "--strategy", "greedy"]),
    ],
)
def test_ctrl_c_while_modules_load_ends_the_program_without_a_trace(
    tmp_path: Path, module: str, arguments: list[str]
) -> None:
    """From the first module that the program loads after its own; some would swallow the exception."""
    # the module's import waits until the signal has come
    (tmp_path / "sitecustomize.py").write_text(STOPPED_AT_IMPORT.format(module=module), encoding="utf-8")
    with subprocess.Popen(
        [sys.executable, "-m", "cli.main", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        text=True,
    ) as program:
        assert program.stdout is not None
        assert program.stdout.read(4) == "here"
        program.send_signal(signal.SIGINT)
        out, errors = program.communicate()

    assert (program.returncode, out, errors) == (130, "", "")


def test_the_entry_loads_nothing_of_others_before_it_is_prepared_for_ctrl_c() -> None:
    """Beside Python's own modules only `cli.interrupt`, as everything before it is unprotected."""
    script = (
        "import sys; before = set(sys.modules); import cli.main;"
        "print(*sorted(name for name in set(sys.modules) - before"
        " if name.partition('.')[0] not in sys.stdlib_module_names))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert done.stdout.split() == ["cli", "cli.interrupt", "cli.main"]


def test_the_version_is_that_of_the_installed_distribution(
    stormplace: Callable[..., tuple[int, str, str]],
) -> None:
    assert stormplace("--version") == (0, f"stormplace {version('stormplace')}\n", "")


def test_the_commands_load_slow_libraries_only_when_one_is_asked_for() -> None:
    """Else each command would wait for what others need."""
    script = "import sys; import cli.commands; print(*sorted(set(sys.modules) & {*sys.argv[1:]}))"
    slow = ("numpy", "ortools", "pandas", "pydantic", "pyspark", "rich", "streamparse", "thriftpy2")
    done = subprocess.run([sys.executable, "-c", script, *slow], capture_output=True, text=True, check=True)

    assert done.stdout.split() == []


def test_daemon_and_agent_load_nothing_that_draws_on_terminals() -> None:
    """It would stay in the memory of every host."""
    script = """
import sys, bridge.server.handler, bridge.server.plan_server
import formats.log, monitoring.agent.agent, monitoring.zookeeper.publisher
print("rich" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert done.stdout == "False\n"
