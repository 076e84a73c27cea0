"""What holds for all tests."""

from __future__ import annotations

import gc
import os
import signal
import sys
from functools import cache
from typing import TYPE_CHECKING

import pytest
import typer.main
import typer.testing
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

# Every worker and every command under test would otherwise compile all modules anew, which costs more than
# most of the tests do; set before any other module is imported, and inherited by workers and commands.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# tests share their machine with others: no example may fail for being slow
settings.register_profile(
    "any-speed", max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("any-speed")

SERVERS = {"redis_server", "lasting_redis", "zookeeper", "no_zookeeper", "kafka"}
"""Fixtures that start a real server; tests that use one are no unit tests and run on their own."""

SPARK_S = 900.0
"""Of a test on Spark, s. One that is ended as it waits leaves its answer to the next one: all fail then."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests that need a real server, and give those on Spark longer, so that none can be forgotten."""
    for item in items:
        if item.get_closest_marker("spark") is not None:
            item.add_marker(pytest.mark.timeout(SPARK_S))
        if SERVERS & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.servers)


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """The one Spark session of all tests: a process has only one, and who ends it ends it for all."""
    from replay.session import spark_session  # noqa: PLC0415 - loads slowly, and few tests need it

    with spark_session() as session:
        yield session


@pytest.fixture(scope="session", autouse=True)
def commands_are_built_once() -> Iterator[None]:
    """Typer makes all commands anew at every call, which takes longer than most tests of one of them."""
    with pytest.MonkeyPatch.context() as patch:
        once = cache(typer.main.get_command)
        patch.setattr(typer.main, "get_command", once)
        patch.setattr(typer.testing, "_get_command", once)
        yield


def pytest_collection_finish() -> None:
    """Spare modules and tests from the search for garbage: they are many, and stay to the end."""
    gc.collect()
    gc.freeze()


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
