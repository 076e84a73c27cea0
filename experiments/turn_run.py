"""One turn: a topology is submitted, fed, collected and killed; a failure leaves nothing that runs."""

from __future__ import annotations

import shutil
import time
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from experiments.busy import BusyMeter, write_busy
from experiments.lab_steps import PLACEMENT, LabSteps, StepError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from experiments.lab_steps import FeedErrands
    from experiments.topologies.description import Turn
    from lab.cluster import LabClient


@dataclass(frozen=True)
class TurnFigures:
    """What was noted while a turn ran.

    Attributes:
        busy: Share of the processors' time (0 to 1) that was used while paced rows were fed or, if none are
            fed, while results were awaited.
        fed_s: When feeding ended, Unix time.
        process_ends: How often each process of the lab ended unexpectedly; those that never did are left out.
    """

    busy: float
    fed_s: float
    process_ends: Mapping[str, int]


def run_turn(
    steps: LabSteps,
    folder: Path,
    turn: Turn,
    *,
    errands: FeedErrands | None = None,
    fed: Callable[[], object] = lambda: None,
    collect: Callable[[LabSteps, Turn, Path], None] = LabSteps.collect,
) -> TurnFigures:
    """Run one turn; its results and `placement.json` are in its folder then.

    Args:
        steps: The steps of a lab that is up.
        folder: The turn's folder; what an earlier try has left there is removed.
        turn: What to run.
        errands: What has to be done while rows are fed.
        fed: Called when feeding has ended; a `StepError` ends the turn.
        collect: Collects the results.

    Raises:
        StepError: A step failed; the topology does not run any more.
        lab.errors.LabError: The lab does not do what it is asked to.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    name = turn.topology.name
    if turn.scheduler is not None:
        steps.use_scheduler(turn.scheduler)
    ends_before = _unexpected_ends(steps.lab)
    try:
        steps.submit(turn, folder)
        meter, busy = BusyMeter(), None
        if turn.feeding is not None:
            busy = steps.feed(turn, turn.feeding, folder, errands)
        fed_s = time.time()
        fed()
        collect(steps, turn, folder)
        busy = meter.fraction() if busy is None else busy
        write_busy(folder, busy)
        (folder / PLACEMENT).write_text(steps.placement(name, folder), encoding="utf-8")
        steps.kill(name, folder)
    except StepError:
        steps.discard(name, folder)
        raise
    return TurnFigures(busy, fed_s, _unexpected_ends(steps.lab) - ends_before)


def _unexpected_ends(lab: LabClient) -> Counter[str]:
    return Counter({service.name: service.unexpected_ends for service in lab.status().services})
