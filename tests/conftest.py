"""What holds for all tests."""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

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


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """The one Spark session of all tests: a process has only one, and who ends it ends it for all."""
    from replay.session import spark_session  # noqa: PLC0415 - loads slowly, and few tests need it

    with spark_session() as session:
        yield session


def pytest_configure(config: pytest.Config) -> None:
    """Take signals again that are ignored, as in a job that a shell runs in the background or by `nohup`.

    Commands under test would inherit that and never be interrupted.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
    # nothing here goes through pandas
    config.addinivalue_line("filterwarnings", "ignore:PySpark does not yet fully support pandas")
