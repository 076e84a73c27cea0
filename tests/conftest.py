"""What holds for all tests."""

from __future__ import annotations

import os
import signal
import sys

import pytest

# Every worker and every command under test would otherwise compile all modules anew, which costs more than
# most of the tests do; set before any other module is imported, and inherited by workers and commands.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

SERVERS = {"redis_server", "lasting_redis", "zookeeper", "no_zookeeper"}
"""Fixtures that start a real server; tests that use one are no unit tests and run on their own."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that need a real server, so that none can be forgotten."""
    for item in items:
        if SERVERS & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.servers)


def pytest_configure() -> None:
    """Take Ctrl-C again where it is ignored, as in a job that a shell runs in the background.

    Commands under test would inherit that and never be interrupted.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
