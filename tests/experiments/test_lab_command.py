"""A command on a host: its lines, what is done meanwhile, and that it never outlives its call."""

from __future__ import annotations

import subprocess
from typing import Any

import pytest

from experiments.lab_command import run_on_host


class Lab:
    """Runs commands here."""

    process: subprocess.Popen[Any]

    def exec(self, _host: str, argv: list[str], **popen: Any) -> subprocess.Popen[Any]:
        self.process = subprocess.Popen(argv, **popen)
        return self.process


class Errands:
    """Something is due from a line on; it is done once, by `act`."""

    def __init__(self, act: Any = None, after: str | None = None) -> None:
        self.lines: list[str] = []
        self._act = act
        self._after = after

    def take(self, line: str) -> None:
        self.lines.append(line.strip())

    def due_s(self) -> float | None:
        return 0.0 if self._act is not None and self._after in self.lines else None

    def act(self) -> None:
        doing, self._act = self._act, None
        doing()


def run(line: str, errands: Errands, lab: Lab | None = None) -> int:
    return run_on_host(lab or Lab(), "a-1", ["sh", "-c", line], errands.take, errands)  # type: ignore[arg-type]  # a double


def test_every_line_is_taken_and_the_status_returned() -> None:
    """Standard error too, and a last line without an end."""
    errands = Errands()
    assert run("echo one; echo two >&2; printf three; exit 7", errands) == 7
    assert errands.lines == ["one", "two", "three"]


def test_what_is_due_is_done_while_the_command_runs(tmp_path: Any) -> None:
    """The command waits for it, so it cannot have been done before or after."""
    mark = tmp_path / "mark"
    errands = Errands(mark.touch, after="ready")
    line = f"echo ready; while [ ! -e {mark} ]; do sleep 0.01; done; echo seen"
    assert run(line, errands) == 0
    assert errands.lines == ["ready", "seen"]


@pytest.mark.parametrize("end", [ValueError, KeyboardInterrupt])
def test_a_command_does_not_outlive_what_fails_beside_it(end: type[BaseException]) -> None:
    def fail() -> None:
        raise end

    lab = Lab()
    with pytest.raises(end):
        run("echo ready; exec sleep 600", Errands(fail, after="ready"), lab)
    assert lab.process.returncode not in {None, 0}


def test_something_due_later_does_not_delay_lines_or_the_end() -> None:
    """A line is taken when it comes, while the next moment is waited for."""

    class Later(Errands):
        def due_s(self) -> float | None:
            return 3600.0

    errands = Later()
    assert run("echo one; echo two", errands) == 0
    assert errands.lines == ["one", "two"]
