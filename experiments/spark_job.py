"""Waiting for a job on Spark so that Ctrl-C ends it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark import SparkContext

_LOOK_EVERY_S = 0.5

_Result = TypeVar("_Result")


def carried_out(context: SparkContext, job: Callable[[], _Result], look: Callable[[], None]) -> _Result:
    """Return what a job returns; whatever ends the wait cancels it.

    The job runs in a thread of its own: this one stays free for Ctrl-C, which Spark cannot take well while it
    waits for the JVM.

    Args:
        context: Whose jobs are cancelled.
        job: Calls Spark.
        look: Called about twice a second until the job is done.
    """
    with ThreadPoolExecutor(max_workers=1) as own_thread:
        running = own_thread.submit(job)
        try:
            while not wait((running,), _LOOK_EVERY_S).done:
                look()
        except BaseException:
            context.cancelAllJobs()
            raise
        return running.result()
