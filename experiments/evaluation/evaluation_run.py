"""The flow of an evaluation: data, lab up, one run per strategy, lab down, verification, analysis, report."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from experiments.errors import ExperimentError
from experiments.evaluation.evaluation_data import check_data, prepare
from experiments.evaluation.evaluation_report import finish
from experiments.run_folder import run_folder
from experiments.running_lab import lab_sites
from experiments.series import STEPS_PER_TURN, Member, Series, run_series
from experiments.topologies.description import turn_under
from experiments.topologies.taxi_query import at_rate, at_speed, taxi_query
from experiments.turn_run import run_turn
from replay.errors import DataError

if TYPE_CHECKING:
    from experiments.evaluation.evaluation_data import Rows
    from experiments.evaluation.evaluation_report import Finished
    from experiments.evaluation.evaluation_settings import EvaluationSettings
    from experiments.progress import Display
    from experiments.topologies.description import FeedCommand

_OTHER_STEPS = 5


def run_evaluation(settings: EvaluationSettings, display: Display) -> Finished:
    """Run a whole evaluation.

    Args:
        settings: What is run.
        display: Shows the steps.

    Raises:
        ExperimentError: A step failed, the machine lacks something, or it was interrupted; the lab is down by
            then.
    """
    home = f"site:{lab_sites(settings.sites).services}"
    try:
        check_data(settings)
    except DataError as error:
        raise ExperimentError(str(error)) from error
    variants = settings.variants
    with (
        run_folder(settings.out, "evaluation") as folder,
        display(_OTHER_STEPS + STEPS_PER_TURN * len(variants)) as progress,
    ):
        progress.step("data")
        rows = prepare(settings, folder, progress.detail)
        query, feeding = taxi_query(rows.path, settings.query), _feeding(settings, rows)
        turns = {}
        for variant in variants:
            name, strategy = variant.name, variant.strategy
            turn = turn_under(variant.scheduler, query, feeding, ends_at=home, strategy=strategy, label=name)
            turns[name] = Member(variant.scheduler, partial(run_turn, turn=turn))
        run_series(Series(settings.sites, turns), folder / "lab", folder, progress)
        return finish(settings, folder, rows, {one: folder / one.name for one in variants}, progress)


def _feeding(settings: EvaluationSettings, rows: Rows) -> FeedCommand:
    asked = settings.feeding
    fast = asked.fast_rows(rows.count)
    if asked.speed is not None:
        return at_speed(rows.path, fast, asked.speed)
    assert asked.rate is not None  # noqa: S101 - one of the two is given
    return at_rate(rows.path, fast, asked.rate, asked.paced_rows)
