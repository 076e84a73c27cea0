"""Ctrl-C while Spark works."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from replay.spark_interrupt import postponed_endings

WORK = """
import os, signal, time
from replay.session import spark_session

driver = os.getpid()

def forever(batches):
    os.kill(driver, signal.SIGINT)
    time.sleep(600)
    yield from batches

try:
    with spark_session("local[1]", "512m") as spark:
        spark.range(1).mapInPandas(forever, "id long").collect()
except KeyboardInterrupt:
    print("interrupted")
"""

STARTING = """
import os, signal
from pyspark import java_gateway
from replay.session import spark_session

start, started = java_gateway.Popen, []

def interrupted(*arguments, **options):
    started.append(start(*arguments, **options))
    os.kill(os.getpid(), signal.SIGINT)
    return started[-1]

java_gateway.Popen = interrupted
try:
    with spark_session("local[1]", "512m"):
        print("a session")
except KeyboardInterrupt:
    print("interrupted")
print("JVM ended" if started[0].returncode is not None else "JVM left")
"""

RDD = """
import os, signal, time
from replay.session import spark_session

driver = os.getpid()

def forever(number):
    os.kill(driver, signal.SIGINT)
    time.sleep(600)

try:
    with spark_session("local[1]", "512m") as spark:
        try:
            spark.sparkContext.parallelize([1]).map(forever).collect()
        finally:
            from replay.spark_interrupt import jvm_ended
            print("ended" if jvm_ended() else "at work")
except KeyboardInterrupt:
    print("interrupted")
"""


def test_an_ending_in_the_block_comes_behind_it() -> None:
    """Once, however often it was sent; what is to be ignored stays so."""
    done = []

    def block() -> None:
        with postponed_endings():
            for number in (signal.SIGHUP, signal.SIGINT, signal.SIGINT):
                os.kill(os.getpid(), number)
            done.append(True)

    # not those of the tests' one session, which end it
    before = {number: signal.getsignal(number) for number in (signal.SIGHUP, signal.SIGINT)}
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            block()
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    assert done


@pytest.mark.spark
def test_ctrl_c_while_the_jvm_starts_ends_it() -> None:
    """It is not yet known to Spark's Python side then, and does not always end by itself."""
    done = subprocess.run([sys.executable, "-c", STARTING], capture_output=True, text=True, check=False)

    assert (done.stdout, done.returncode) == ("interrupted\nJVM ended\n", 0), done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.spark
@pytest.mark.parametrize(("work", "said"), [(WORK, "interrupted\n"), (RDD, "ended\ninterrupted\n")])
def test_ctrl_c_ends_a_job_without_a_trace(work: str, said: str) -> None:
    """The job is at work when it comes, and has ended when its caller clears away what it wrote."""
    done = subprocess.run([sys.executable, "-c", work], capture_output=True, text=True, check=False)

    assert (done.stdout, done.returncode) == (said, 0), done.stderr
    assert "Traceback" not in done.stderr
