"""The daemon of a benchmark listens where it says, and ends with the benchmark."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import psutil
import pytest

from benchmarks.local_daemon import local_daemon

if TYPE_CHECKING:
    from pathlib import Path


def test_a_table_server_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="no table server"), local_daemon(tmp_path, "[server]\nport = 1\n"):
        pass


@pytest.mark.programs
def test_settings_that_the_daemon_refuses_are_shown(tmp_path: Path) -> None:
    with (
        pytest.raises(SystemExit, match=r"did not start:\n(.|\n)*capacities"),
        local_daemon(tmp_path, "[capacities]\n"),
    ):
        pass


@pytest.mark.programs
def test_an_error_of_the_benchmark_ends_the_daemon(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), local_daemon(tmp_path) as daemon:  # noqa: PT012  # all of it
        socket.create_connection(("127.0.0.1", daemon.port), timeout=10).close()
        raise KeyboardInterrupt
    assert not psutil.pid_exists(daemon.pid)
