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

from pyspark.sql import SparkSession

from replay.errors import MachineError

if TYPE_CHECKING:
    from collections.abc import Iterator

LOGGING = Path(__file__).with_name("log4j2.xml")

#: Jobs of a minute spend most of their time in the JVM's optimising compiler: without it they need half the
#: processor time.
QUICK_START = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


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
        java_options: Options of the driver's JVM; an empty string suits jobs of many minutes better.

    Yields:
        The session; it is stopped and its scratch folder is removed when the block ends.

    Raises:
        MachineError: Java is missing.
    """
    require_java()
    # Spark hands the workers' interpreter and the bind address over through the environment only.
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    with tempfile.TemporaryDirectory(prefix="stormplace-spark-") as scratch, warnings.catch_warnings():
        # Spark warns about new pandas versions at start-up; nothing here goes through pandas.
        warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas")
        builder = SparkSession.Builder().appName("stormplace").master(master)
        for key, value in _settings(scratch, driver_memory, java_options).items():
            builder = builder.config(key, value)
        session = builder.getOrCreate()
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
    }
