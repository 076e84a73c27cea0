"""What commands that sweep share: the runs that are missing, with a meter, and what is made of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from cli.bar import Meter
from cli.data.session import bad_input, say, spark
from cli.errors import UserError
from cli.interrupt import INTERRUPTED_STATUS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from pyspark.sql import DataFrame

    from experiments.sweep.sweep_plan import SweepPlan
    from experiments.sweep.worker import Finished

FAILED_STATUS = 1
Made = TypeVar("Made")


def swept(
    plan: SweepPlan, out: Path, master: str, driver_memory: str, make: Callable[[DataFrame], Made]
) -> tuple[list[Finished], int, Made]:
    """Carry out the runs of a sweep that are not in its folder yet.

    Args:
        plan: The sweep.
        out: Its folder; a started one goes on.
        master: Spark master.
        driver_memory: Heap of the driver.
        make: Makes something of the table of all runs (`experiments.sweep.distribute.write_runs`).

    Returns:
        The runs that failed now, how many were finished before, and what was made.

    Raises:
        UserError: Bad input, or Ctrl-C.
    """
    from experiments.sweep.distribute import run_missing, write_runs  # noqa: PLC0415  # Spark loads slowly
    from experiments.sweep.sweep_folder import SweepFolder  # noqa: PLC0415  # likewise

    folder = SweepFolder(out)
    with bad_input():
        finished = folder.open(plan)
    runs = plan.runs()
    kept = sum(run.part in finished for run in runs)
    if kept:
        say(f"{kept} of {len(runs)} runs are finished already")
    meter = Meter("runs")
    try:
        with spark(master, driver_memory, explain_interrupt=False) as session:
            with meter:
                failed = run_missing(
                    session, plan, folder, lambda done: meter.count(done - kept, len(runs) - kept)
                )
            with bad_input():
                made = make(write_runs(session, folder, failed))
    except KeyboardInterrupt:
        done = sum(run.part in folder.finished() for run in runs)
        raise UserError(
            f"interrupted: {done} of {len(runs)} runs are finished (the same command goes on from here)",
            status=INTERRUPTED_STATUS,
        ) from None
    return failed, kept, made


def refuse_failures(failed: Sequence[Finished]) -> None:
    """End with an error if runs failed."""
    if failed:
        first = failed[0]
        raise UserError(
            f"{len(failed)} runs failed and will be tried again by the same command; the first: instance "
            f"{first.run.instance}, strategy {first.run.strategy}, seed {first.run.seed}: {first.failure}",
            status=FAILED_STATUS,
        )
