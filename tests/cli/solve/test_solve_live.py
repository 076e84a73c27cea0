"""On a terminal `solve` shows how far it is, and Ctrl-C ends it with the best placement so far."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from scheduler import plan

if TYPE_CHECKING:
    from collections.abc import Iterator

EXAMPLE = Path(__file__).parents[3] / "benchmarks" / "instances" / "sequential-100.json"
LONG_S = 60.0


class Terminal:
    """`stormplace solve` with standard error on a terminal of its own."""

    def __init__(self, *arguments: str) -> None:
        self._screen, slave = pty.openpty()
        self.shown = ""
        self.process = subprocess.Popen(
            [sys.executable, "-m", "cli.main", "solve", str(EXAMPLE), *arguments],
            stdout=subprocess.PIPE,
            stderr=slave,
            env={**os.environ, "TERM": "xterm", "COLUMNS": "160"},
            text=True,
        )
        os.close(slave)

    def wait_for(self, pattern: str) -> None:
        """Read the screen until it has shown something."""
        while not re.search(pattern, self.shown):
            ready, _, _ = select.select([self._screen], [], [], LONG_S)
            assert ready, f"{pattern} is not in {self.shown!r}"
            self._read()

    def end(self) -> tuple[int, str]:
        """Return exit status and standard output."""
        assert self.process.stdout is not None
        out = self.process.stdout.read()
        status = self.process.wait(LONG_S)
        while select.select([self._screen], [], [], 0)[0] and self._read():
            pass
        return status, out

    def _read(self) -> bool:
        try:
            text = os.read(self._screen, 65536).decode()
        except OSError:  # the other end is closed
            return False
        self.shown += text
        return bool(text)

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()
        os.close(self._screen)


@pytest.fixture
def terminals() -> Iterator[list[Terminal]]:
    opened: list[Terminal] = []
    yield opened
    for each in opened:
        each.close()


def test_the_line_shows_placement_bound_and_time_and_goes_away(terminals: list[Terminal]) -> None:
    """It is drawn in place; the tables come at the end on standard output, without it."""
    terminal = Terminal("--strategy", "ils", "--time-limit", "0.8")
    terminals.append(terminal)
    terminal.wait_for(r"ils  F 0\.\d+  R \d+\.\d ms  by \w+  \d\.\d of 0\.8 s")
    status, out = terminal.end()

    assert status == 0
    assert "Placement" in out
    assert "  F 0." not in out
    assert "\x1b[2K" in terminal.shown
    assert "Traceback" not in terminal.shown


def test_ctrl_c_prints_the_best_so_far_and_leaves_nothing_behind(terminals: list[Terminal]) -> None:
    """Exit status 130, no trace, no process."""
    terminal = Terminal("--strategy", "portfolio", "--time-limit", "3600")
    terminals.append(terminal)
    terminal.wait_for(r"F 0\.\d+")
    family = psutil.Process(terminal.process.pid).children(recursive=True)
    terminal.process.send_signal(signal.SIGINT)
    status, out = terminal.end()

    assert status == 130
    assert "operator-20" in out
    assert terminal.shown.endswith("stormplace: interrupted: this is the best one so far\r\n")
    assert "Traceback" not in terminal.shown
    assert family
    assert psutil.wait_procs(family, LONG_S)[1] == []


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_ending_with_json_prints_one_object(
    run: Any, monkeypatch: pytest.MonkeyPatch, ending: signal.Signals
) -> None:
    """Its reason says that the search was interrupted; a terminal is not needed for that."""
    genuine = plan.plan

    def not_caught(*_: object) -> None:
        raise AssertionError

    def interrupted(*arguments: Any, **options: Any) -> Any:
        os.kill(os.getpid(), ending)
        return genuine(*arguments, **options)

    monkeypatch.setattr(plan, "plan", interrupted)
    before = signal.signal(ending, not_caught)
    try:
        status, out, err = run(EXAMPLE, "--strategy", "ils", "--time-limit", "3600", "--json")
    finally:
        signal.signal(ending, before)

    answer = json.loads(out)
    assert (status, err) == (130, "stormplace: interrupted: this is the best one so far\n")
    assert len(answer["placement"]) == 20
    assert answer["reason"] == "interrupted; the deadline ended the search"


def test_a_second_ctrl_c_ends_it_at_once(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """For a strategy that does not look at its deadline: no placement, one sentence."""

    def stubborn(*_: Any, **__: Any) -> Any:
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)

    before = signal.getsignal(signal.SIGINT)
    monkeypatch.setattr(plan, "plan", stubborn)

    assert run(EXAMPLE, "--strategy", "ils", "--json") == (130, "", "stormplace: interrupted\n")
    assert signal.getsignal(signal.SIGINT) is before
