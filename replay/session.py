"""The Spark session: one builder for every job of this package."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from py4j.protocol import Py4JError  # type: ignore[import-untyped]  # py4j ships no types
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from replay.errors import MachineError
from replay.failures import cause
from replay.master import driver_address, explain_no_start
from replay.spark_interrupt import jvm_ended, own_interrupt, postponed_endings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

LOGGING = Path(__file__).with_name("log4j2.xml")

#: Jobs of a minute spend most of their time in the JVM's optimising compiler: without it they need half the
#: processor time.
QUICK_START = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
#: Longer ones gain by it, if it turns to the busiest code only.
LONG_RUN = "-XX:+UseSerialGC -XX:CompileThresholdScaling=4"
_LONG_RUN_BYTES = 50_000_000


def jvm_options(input_bytes: int) -> str:
    """Return options of the driver's JVM that suit work on so many bytes of rows."""
    return LONG_RUN if input_bytes >= _LONG_RUN_BYTES else QUICK_START


def require_java() -> None:
    """Refuse to start without a Java runtime.

    Raises:
        MachineError: Neither JAVA_HOME nor PATH leads to a `java` program.
    """
    home = os.environ.get("JAVA_HOME")
    if home is not None:
        if not (Path(home) / "bin" / "java").is_file():
            raise MachineError(f"Spark needs Java 17 or newer, but JAVA_HOME={home} holds no bin/java")
    elif shutil.which("java") is None:
        raise MachineError("Spark needs Java 17 or newer, but there is no program `java` on PATH")


@contextmanager
def spark_session(
    master: str = "local[2]", driver_memory: str = "1g", java_options: str = QUICK_START
) -> Iterator[SparkSession]:
    """Run a Spark session that leaves nothing behind; with a local master it listens on loopback only.

    Times in the data carry no zone; the session's zone is UTC so that they are taken as they stand.

    Args:
        master: Spark master URL.
        driver_memory: Heap of the driver (and, for a local master, of all tasks), in Spark's notation.
        java_options: Options of the driver's JVM, see `jvm_options`.

    Yields:
        The session; it is stopped and its scratch folder is removed when the block ends.

    Raises:
        MachineError: Java is missing, or Spark does not start with these settings.
    """
    require_java()
    address = driver_address(master)
    # Spark hands the workers' interpreter and the bind address over through the environment only.
    os.environ["PYSPARK_PYTHON"] = sys.executable
    if address is not None:
        os.environ["SPARK_LOCAL_IP"] = address
    with (
        tempfile.TemporaryDirectory(prefix="stormplace-spark-") as scratch,
        warnings.catch_warnings(),
        own_interrupt() as put_interrupt,
    ):
        # Spark warns about new pandas versions at start-up; nothing here goes through pandas.
        warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas")
        try:
            _start(_settings(master, scratch, address, driver_memory, java_options))
            put_interrupt()
            session = SparkSession.Builder().getOrCreate()
        except (Py4JError, PySparkException) as error:
            raise MachineError(explain_no_start(master, cause(error))) from error
        try:
            yield session
        finally:
            if not jvm_ended():
                session.stop()


def _start(settings: Mapping[str, str]) -> None:
    """Start Spark.

    The JVM by itself, first: when it is interrupted while it starts, it would neither be known nor end.
    """
    conf = SparkConf()
    for key, value in settings.items():
        conf.set(key, value)
    with postponed_endings():
        SparkContext._ensure_initialized(conf=conf)
    SparkContext.getOrCreate(conf)


def _settings(
    master: str, scratch: str, address: str | None, driver_memory: str, java_options: str
) -> dict[str, str]:
    listening = {} if address is None else {"spark.driver.bindAddress": address, "spark.driver.host": address}
    return listening | {
        "spark.app.name": "stormplace",
        "spark.master": master,
        "spark.driver.memory": driver_memory,
        "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={LOGGING.as_uri()} "
        f"-Dderby.system.home={scratch} {java_options}",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.local.dir": scratch,
        "spark.sql.warehouse.dir": f"{scratch}/warehouse",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.shuffle.partitions": "4",
        # rows of both queries go to a folder each: with a file open for each they need not be sorted
        "spark.sql.maxConcurrentOutputFileWriters": "16",
    }
