"""The experiment on response times: turn after turn, each kept with the round that placed the query."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING

from experiments.folder import kept_settings
from experiments.folder_content import DONE, RESPONSE_TIME
from experiments.machine import provenance
from experiments.response_time.planned import planned_as_it_ran
from experiments.response_time.report.response_time_report import build
from experiments.resumable import Resumable, run_resumable
from experiments.running_lab import lab_sites
from experiments.series import Member, Series
from experiments.topologies.description import turn_under
from experiments.topologies.taxi_query import at_rate, count_rows, taxi_query
from experiments.turn_run import run_turn
from replay.analysis.kept_turn import PLANNED, Done
from replay.output import write_json

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from experiments.lab_steps import LabSteps
    from experiments.progress import Display
    from experiments.response_time.response_time_settings import ExperimentSettings
    from experiments.response_time.variants import VariantTurn
    from experiments.topologies.description import Description

_OTHER_STEPS = 4

STORMPLACE_CONF: dict[str, object] = {
    "topology.stormplace.weights": {"response_time": 1.0},
    # the placement under test is the first one: a move would lose the query's window and measure the move
    "topology.stormplace.frozen": True,
}


def run_experiment(
    settings: ExperimentSettings, turns: Sequence[VariantTurn], out: Path, display: Display
) -> None:
    """Run the turns that are not finished yet, verify all answers and write the report.

    Args:
        settings: How every turn runs.
        turns: All turns, in their order.
        out: The experiment's folder.
        display: Shows the steps.

    Raises:
        ExperimentError: Bad input, a lab that ended, or turns that failed; the same command goes on
            afterwards.
    """
    home = f"{lab_sites(settings.sites).redis}-1"
    fast_rows = settings.fast_rows(count_rows(settings.data))
    query = taxi_query(settings.data)
    run = partial(_run, settings=settings, topology=query, fast_rows=fast_rows, home=home)
    members = {turn.label: Member(turn.variant.scheduler, partial(run, turn=turn)) for turn in turns}
    experiment = Resumable(
        kind=RESPONSE_TIME,
        document=kept_settings(settings),
        series=Series(settings.sites, members, settings.settle_s),
        nouns="turns",
        order=f"order of the others by seed {settings.seed}",
        other_steps=_OTHER_STEPS,
        verify=query.verify,
        report=build,
    )
    run_resumable(experiment, out, display)


def _run(
    steps: LabSteps,
    folder: Path,
    *,
    turn: VariantTurn,
    settings: ExperimentSettings,
    topology: Description,
    fast_rows: int,
    home: str,
) -> None:
    """Run one turn, its ends pinned to the host `home`; its folder ends with `done.json` or without it.

    Raises:
        StepError: A step failed; the query does not run any more.
        lab.errors.LabError: The lab does not do what it is asked to.
    """
    variant = turn.variant
    paced_rows = settings.warm_up_rows + settings.measured_rows
    asked = turn_under(
        variant.scheduler,
        topology,
        at_rate(settings.data, fast_rows, settings.rate, paced_rows),
        ends_at=f"host:{home}",
        strategy=variant.strategy,
        label=turn.label,
        conf=STORMPLACE_CONF,
    )
    figures = run_turn(steps, folder, asked)
    if variant.strategy is not None:
        planned = planned_as_it_ran(turn.label, folder, steps.lab.folder.records)
        write_json(folder / PLANNED, planned.model_dump(mode="json"))
    done = Done(
        variant=variant.name,
        repetition=turn.repetition,
        scheduler=variant.scheduler,
        strategy=variant.strategy,
        rate=settings.rate,
        fast_rows=fast_rows,
        warm_up_rows=settings.warm_up_rows,
        measured_rows=settings.measured_rows,
        busy=figures.busy,
        process_ends=dict(figures.process_ends),
        **asdict(provenance()),
    )
    write_json(folder / DONE, done.model_dump())
