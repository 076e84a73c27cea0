"""The Spark session: one builder for every job of this package."""

from __future__ import annotations

import os
import shutil
import socket
import sys
import tempfile
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from py4j.protocol import Py4JError  # type: ignore[import-untyped]  # py4j ships no types
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from replay.errors import MachineError
from replay.failures import cause
from replay.spark_interrupt import own_interrupt

if TYPE_CHECKING:
    from collections.abc import Iterator

LOGGING = Path(__file__).with_name("log4j2.xml")

#: Jobs of a minute spend most of their time in the JVM's optimising compiler: without it they need half the
#: processor time.
QUICK_START = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
#: Longer ones gain by it, if it turns to the busiest code only.
LONG_RUN = "-XX:+UseSerialGC -XX:CompileThresholdScaling=4"
_LONG_RUN_BYTES = 50_000_000
_STANDALONE = "spark://"
_MASTERS = ("local", _STANDALONE, "yarn", "k8s://")
_DEFAULT_PORT = 7077
_ANSWER_S = 5.0


def jvm_options(input_bytes: int) -> str:
    """Return options of the driver's JVM that suit work on so many bytes of rows."""
    return LONG_RUN if input_bytes >= _LONG_RUN_BYTES else QUICK_START


def require_master(master: str) -> None:
    """Refuse what is no master, and a standalone cluster of which none answers: Spark would try for minutes.

    Args:
        master: Spark master URL; other kinds than `spark://HOST:PORT,...` are not asked.

    Raises:
        MachineError: It is none, or none of the standalone masters takes a connection within 5 seconds.
    """
    if not master.startswith(_MASTERS):
        raise MachineError(f"{master}: no Spark master; one begins with {', '.join(_MASTERS)}")
    if not master.startswith(_STANDALONE):
        return
    reason = ""
    for address in master.removeprefix(_STANDALONE).split(","):
        host, _, port = address.partition(":")
        if port and not port.isdecimal():
            raise MachineError(f"{master}: {port} is no port")
        try:
            with socket.create_connection((host, int(port or _DEFAULT_PORT)), timeout=_ANSWER_S):
                return
        except OSError as error:
            reason = error.strerror or str(error)
    raise MachineError(f"{master}: no Spark master answers: {reason}")


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
    """Run a Spark session that listens on loopback only and leaves nothing behind.

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
    require_master(master)
    # Spark hands the workers' interpreter and the bind address over through the environment only.
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    with (
        tempfile.TemporaryDirectory(prefix="stormplace-spark-") as scratch,
        warnings.catch_warnings(),
        own_interrupt() as put_interrupt_back,
    ):
        # Spark warns about new pandas versions at start-up; nothing here goes through pandas.
        warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas")
        builder = SparkSession.Builder().appName("stormplace").master(master)
        for key, value in _settings(scratch, driver_memory, java_options).items():
            builder = builder.config(key, value)
        try:
            session = builder.getOrCreate()
        except (Py4JError, PySparkException) as error:
            raise MachineError(f"Spark does not start with master {master}: {cause(error)}") from error
        put_interrupt_back()
        try:
            yield session
        finally:
            session.stop()


def _settings(scratch: str, driver_memory: str, java_options: str) -> dict[str, str]:
    return {
        "spark.driver.memory": driver_memory,
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
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
