"""Ctrl-C while Spark works."""

from __future__ import annotations

import subprocess
import sys

import pytest

WORK = """
import os, signal, time
from replay.session import spark_session

driver = os.getpid()

def forever(batches):
    os.kill(driver, signal.SIGINT)
    time.sleep(600)
    yield from batches

with spark_session("local[1]", "512m") as spark:
    try:
        spark.range(1).mapInPandas(forever, "id long").collect()
    except KeyboardInterrupt:
        print("interrupted")
"""


@pytest.mark.spark
@pytest.mark.timeout(200)
def test_ctrl_c_ends_a_job_without_a_trace() -> None:
    """The job is at work when it comes; nothing is said but what the command itself says."""
    done = subprocess.run([sys.executable, "-c", WORK], capture_output=True, text=True, check=False)

    assert (done.stdout, done.returncode) == ("interrupted\n", 0), done.stderr
    assert "Traceback" not in done.stderr
