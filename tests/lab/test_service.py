from __future__ import annotations

import os
import signal
import time
from typing import TYPE_CHECKING

import pytest

from lab.commands import Command
from lab.errors import LabError
from lab.service import LONGEST_PAUSE_S, Service, restart_pause_s

if TYPE_CHECKING:
    from pathlib import Path


def start(logs: Path, script: str, *, restart: bool = True, stop_s: float = 3.0) -> Service:
    service = Service(
        Command("one", None, ("sh", "-c", script), piped=True, restart=restart, stop_s=stop_s), logs
    )
    service.start(None)
    return service


def reap(service: Service) -> None:
    assert service.pid is not None
    service.ended(os.waitpid(service.pid, 0)[1])


def test_pauses_between_starts_double_up_to_a_bound() -> None:
    """A service that keeps ending is started ever less often, but never given up."""
    pauses = [restart_pause_s(failures) for failures in range(1, 8)]
    assert pauses == [1.0, 2.0, 4.0, 8.0, 16.0, LONGEST_PAUSE_S, LONGEST_PAUSE_S]


@pytest.mark.parametrize(
    ("script", "restart", "state", "end"),
    [
        ("exit 3", True, "waiting", "exit status 3"),
        ("exit 0", True, "waiting", "exit status 0"),
        ("exit 3", False, "failed", "exit status 3"),
        ("kill -9 $$", False, "failed", "signal SIGKILL"),
    ],
)
def test_an_unexpected_end_is_noted_and_answered(
    tmp_path: Path, script: str, restart: bool, state: str, end: str
) -> None:
    """A service that ends by itself waits for its next start, or has failed if it may not restart."""
    service = start(tmp_path, script, restart=restart)
    reap(service)
    assert (service.state, service.last_end, service.unexpected_ends) == (state, end, 1)


def test_a_stop_is_no_unexpected_end(tmp_path: Path) -> None:
    """A service that was stopped stays down."""
    service = start(tmp_path, "exec sleep 60")
    service.stop()
    reap(service)
    assert (service.state, service.unexpected_ends) == ("down", 0)


def test_a_wished_restart_is_due_at_once(tmp_path: Path) -> None:
    """A restart that was asked for is neither paused nor counted."""
    service = start(tmp_path, "exec sleep 60")
    service.restart()
    reap(service)
    assert service.start_is_due()
    assert service.unexpected_ends == 0


def test_a_service_that_ignores_the_request_is_killed_when_its_time_is_over(tmp_path: Path) -> None:
    """SIGKILL follows SIGTERM after the service's time, not before."""
    service = start(tmp_path, 'trap "" TERM; echo ready; while :; do sleep 60; done', stop_s=60.0)
    assert os.read(service.output, 16) == b"ready\n"
    service.stop()
    service.kill_if_overdue()
    assert service.state == "stopping"
    assert service.pid is not None
    assert os.waitpid(service.pid, os.WNOHANG) == (0, 0)
    os.kill(service.pid, signal.SIGKILL)
    reap(service)

    service = start(tmp_path, 'trap "" TERM; echo ready; while :; do sleep 60; done', stop_s=0.0)
    assert os.read(service.output, 16) == b"ready\n"
    service.stop()
    service.kill_if_overdue()
    reap(service)
    assert (service.state, service.last_end) == ("down", "signal SIGKILL")


def test_a_long_life_forgives_earlier_failures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a minute of running the next pause is the first one again."""
    service = start(tmp_path, "exit 1")
    reap(service)
    service.start(None)
    reap(service)
    second_pause_s = (service.due_s() or 0.0) - time.monotonic()
    assert second_pause_s > 1.5
    service.start(None)
    long_after_s = time.monotonic() + 61.0
    monkeypatch.setattr("lab.service.time.monotonic", lambda: long_after_s)
    reap(service)
    assert (service.due_s() or 0.0) - long_after_s == pytest.approx(1.0)


def test_a_program_that_cannot_start_is_named(tmp_path: Path) -> None:
    """A missing program is one sentence with the service's name."""
    service = Service(Command("redis", None, (str(tmp_path / "absent"),)), tmp_path)
    with pytest.raises(LabError, match="cannot start redis"):
        service.start(None)
