"""What all experiments share: turns that fail, a lab that goes, and going on after an interruption."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from bridge.record.record import RecordError
from experiments.errors import ExperimentError
from experiments.folder_content import EXPECTED, TURNS, finished_turns
from experiments.lab_steps import StepError
from experiments.running_lab import is_gone
from lab.errors import LabError, NoLabError
from replay.errors import DataError, MachineError
from replay.output import MARK
from replay.pipeline import VERDICT, evaluate_runs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from experiments.progress import Progress
    from lab.cluster import LabClient

READY_S = 120.0
"""Longest wait before a turn for a lab that lacks something, s; what ended starts again within 30 s."""

GOES_ON = "(the same command goes on from here)"


def settle(settle_s: float, progress: Progress) -> None:
    """Wait while the network is at rest."""
    progress.step(f"lab: {settle_s:g} s for coordinates to converge")
    time.sleep(settle_s)


def run_turns(
    lab: LabClient, out: Path, turns: Mapping[str, Callable[[Path], None]], failures: dict[str, str]
) -> None:
    """Run turns; one that fails does not keep the next from running as long as the lab is whole.

    Args:
        lab: The lab.
        out: The experiment's folder.
        turns: By label, what runs a turn in its folder.
        failures: Takes the reason by label of each turn that fails.

    Raises:
        StepError: No further turn can run: the lab is gone, lacks something or does not do what it is asked
            to, or a file cannot be written or read.
    """
    for label, run in turns.items():
        try:
            _await_whole(lab)
            run(out / TURNS / label)
        except StepError as error:
            if is_gone(lab):
                raise StepError(f"{label}: {error}; {_end_of(lab)}") from error
            failures[label] = str(error)
            sys.stderr.write(f"stormplace: {label} failed: {error}\n")
        except NoLabError as error:
            # it may tell how to start one, which is not what helps here
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


@contextmanager
def resumable(failures: Mapping[str, str]) -> Iterator[None]:
    """Tell of what ends the block, of turns that had failed before, and whether the same command goes on.

    Args:
        failures: Reason by label of turns that failed; filled inside the block.

    Raises:
        ExperimentError: Anything that the experiment's steps, files and lab may fail with; exit status 1.
        KeyboardInterrupt: As inside the block, told.
    """
    try:
        yield
    except KeyboardInterrupt:
        sys.stderr.write(f"stormplace: interrupted{_before(failures)} {GOES_ON}\n")
        raise
    except (StepError, LabError, MachineError, OSError) as failure:
        raise ExperimentError(f"{failure}{_before(failures)} {GOES_ON}", status=1) from failure
    except (DataError, RecordError) as failure:
        # a kept file that is malformed stays so
        raise ExperimentError(f"{failure}{_before(failures)}", status=1) from failure


def tell_failures(failures: Mapping[str, str]) -> None:
    """End with the turns that failed, if there are any.

    Raises:
        ExperimentError: There are some; exit status 1.
    """
    if failures:
        raise ExperimentError(f"turns failed, the same command tries them again: {_told(failures)}", status=1)


def _before(failures: Mapping[str, str]) -> str:
    return f"; failed before: {_told(failures)}" if failures else ""


def _told(failures: Mapping[str, str]) -> str:
    return "; ".join(f"{label}: {reason}" for label, reason in failures.items())


def verify_and_report(out: Path, data: Path, build: Callable[[Path], Path], progress: Progress) -> None:
    """Compare the answers of finished turns with the expected ones, where not done yet, and write the report.

    The expected answers also tell a report which rows should have a result.

    Args:
        out: The experiment's folder.
        data: Taxi rows.
        build: Writes the report and returns its path.
        progress: Takes two steps.
    """
    progress.step("verification: expected answers on Spark")
    unverified = [turn for turn in finished_turns(out) if not (turn / VERDICT).is_file()]
    if unverified:
        expected = out / EXPECTED
        source = None if (expected / MARK).is_file() else data
        evaluate_runs(expected, unverified, source=source, say=progress.detail)
    progress.step("report: table and pictures")
    report = build(out)
    progress.stop()
    sys.stdout.write(f"report: {report}\n")
