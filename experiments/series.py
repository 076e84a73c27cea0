"""Turns in one lab, one after the other, and what a failing turn means for the next ones."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from experiments.lab_steps import LabSteps, StepError
from experiments.running_lab import is_gone, running_lab
from lab.errors import LabError, NoLabError
from replay.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from experiments.progress import Progress
    from lab.cluster import LabClient
    from lab.storm_config import SchedulerName

READY_S = 120.0
"""Longest wait before a turn for a lab that lacks something, s; what ended starts again within 30 s."""
STEPS_PER_TURN = 4


@dataclass(frozen=True)
class Member:
    """One turn of a series.

    Attributes:
        scheduler: The scheduler that Nimbus uses in it.
        run: Runs it in its folder.
    """

    scheduler: SchedulerName
    run: Callable[[LabSteps, Path], object]


@dataclass(frozen=True)
class Series:
    """Turns in one lab.

    Attributes:
        sites: Site file.
        turns: At least one, by label, which names the turn's folder too.
        settle_s: Seconds before the first turn in which the network rests; None: no such step.
    """

    sites: Path
    turns: Mapping[str, Member]
    settle_s: float | None = None


def settle(settle_s: float, progress: Progress) -> None:
    """Wait while the network is at rest."""
    progress.step(f"lab: {settle_s:g} s for coordinates to converge")
    time.sleep(settle_s)


def run_series(
    series: Series, lab_folder: Path, turns: Path, progress: Progress, failures: dict[str, str] | None = None
) -> None:
    """Run turns in a lab of their own, which is gone afterwards.

    Args:
        series: What is run.
        lab_folder: The lab's folder.
        turns: Folder of the turns' folders.
        progress: Where steps are shown.
        failures: Takes the reason by label of each turn that fails: one that does so does not keep the next
            from running, as long as the lab is whole. None: the first one ends the series.

    Raises:
        StepError: A turn failed without `failures`, or no further turn can run: the lab is gone, lacks
            something or does not do what it is asked to, or a file cannot be written or read.
        LabError: The lab does not start or, without `failures`, does not do what it is asked to.
    """
    first = next(iter(series.turns.values()))
    with running_lab(lab_folder, series.sites, first.scheduler, progress) as lab:
        if series.settle_s is not None:
            settle(series.settle_s, progress)
        steps = LabSteps(lab, progress)
        for label, turn in series.turns.items():
            if failures is None:
                turn.run(steps, turns / label)
            else:
                with _noted(lab, label, failures):
                    _await_whole(lab)
                    turn.run(steps, turns / label)


@contextmanager
def _noted(lab: LabClient, label: str, failures: dict[str, str]) -> Iterator[None]:
    """Note why a turn fails.

    Raises:
        StepError: No further turn can run.
    """
    try:
        yield
    except StepError as error:
        if is_gone(lab):
            raise StepError(f"{label}: {error}; {_end_of(lab)}") from error
        failures[label] = str(error)
        sys.stderr.write(f"stormplace: {label} failed: {error}\n")
    except NoLabError as error:
        # it may say how to start one, which is not what helps here
        raise StepError(f"{label}: {_end_of(lab)}") from error
    except LabError as error:
        ended = f"; {_end_of(lab)}" if is_gone(lab) else ""
        raise StepError(f"{label}: {error}{ended}") from error
    except DataError as error:
        raise StepError(f"{label}: {error}") from error


def _end_of(lab: LabClient) -> str:
    return f"the lab has ended: {lab.keepers_last_words()}"


def _await_whole(lab: LabClient) -> None:
    """Wait until nothing of the lab is missing.

    Raises:
        NoLabError: The lab has ended.
        LabError: Something stays missing.
    """
    try:
        lab.await_ready(READY_S)
    except NoLabError:
        raise
    except LabError as error:
        raise LabError(f"lab degraded: {error}") from error
