"""One turn: the late host leaves, the chain runs while the lab changes, and what the report needs is kept."""

from __future__ import annotations

import json
import shutil
import sys
import time
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING

from bridge.settings import MoveSettings
from experiments.adaptation.recorded_rounds import planned_rounds
from experiments.adaptation.report.kept import ROUNDS, write_rounds
from experiments.folder_content import DONE
from experiments.lab_command import run_on_host
from experiments.lab_steps import PLACEMENT, StepError
from experiments.machine import provenance
from experiments.replacement.cluster.chain_turn import describe
from experiments.replacement.cluster.kept import (
    EVENTS,
    FIRST_PLACEMENT,
    INSTANCE,
    PLAN,
    ReplacementDone,
    write_lab_events,
)
from experiments.replacement.cluster.lab_changes import LabChanges, changes
from experiments.replacement.cluster.measured_moves import (
    LOG,
    MEASURED,
    logged_moves,
    write_measured_moves,
)
from experiments.schedule import Schedule
from experiments.turn_run import run_turn
from replay.output import write_json
from topologies.synthetic.configuration import SyntheticRun

if TYPE_CHECKING:
    from pathlib import Path

    from experiments.lab_steps import LabSteps
    from experiments.replacement.cluster.cluster_settings import ReplacementSettings
    from experiments.replacement.cluster.lab_changes import Change
    from experiments.replacement.cluster.variants import VariantTurn
    from experiments.topologies.description import Turn

READY_S = 120.0
_FIRST_TUPLE_S = 300.0
_SUMMARY = "summary.json"


def run_cluster_turn(
    steps: LabSteps, folder: Path, *, turn: VariantTurn, settings: ReplacementSettings
) -> None:
    """Run one turn; its folder ends with `done.json` or without it.

    Args:
        steps: The steps of a lab that is up.
        folder: The turn's folder; what an earlier try has left there is removed.
        turn: Which one.
        settings: What holds for all turns.

    Raises:
        StepError: A step failed; the application does not run any more, and nothing is drained.
        lab.errors.LabError: The lab does not do what it is asked to.
    """
    variant = turn.variant
    lab_changes = LabChanges(steps, folder)
    _seat(steps, settings.late_host, joined=variant.drains)
    asked = describe(settings, turn)
    schedule = Schedule(changes(settings, variant), lab_changes.carry_out)
    submitted_s = time.time()
    try:
        figures = run_turn(
            steps, folder, asked, collect=partial(_collect, schedule=schedule, ours=variant.ours)
        )
        schedule.start_s("synthetic collect")
    except StepError:
        lab_changes.give_back()
        raise
    shutil.copyfile(settings.data, folder / INSTANCE)
    write_lab_events(folder / EVENTS, lab_changes.events)
    topology_id = json.loads((folder / PLACEMENT).read_text(encoding="utf-8"))["id"]
    rounds = planned_rounds(steps.lab.folder.records, topology_id, settings.site_file.services, submitted_s)
    if variant.ours and not rounds:
        raise StepError(f"{turn.label}: the placement daemon has no record of {topology_id}")
    write_rounds(folder / ROUNDS, rounds)
    measured = logged_moves(steps.lab.folder.logs / LOG, topology_id)
    write_measured_moves(folder / MEASURED, measured)
    most = settings.site_file.daemon.get("move", {}).get(
        "max_restarts_per_round", MoveSettings().max_restarts_per_round
    )
    done = ReplacementDone(
        variant=variant.name,
        repetition=turn.repetition,
        rate=settings.rate,
        tuples=settings.tuples(variant),
        busy=figures.busy,
        process_ends=dict(figures.process_ends),
        restarts_per_round=int(most),
        **asdict(provenance()),
        topology_id=topology_id,
    )
    write_json(folder / DONE, done.model_dump(mode="json"))


def _seat(steps: LabSteps, host: str, *, joined: bool) -> None:
    """Let the late host be there, or not, before a turn."""
    steps.progress.step(f"lab: {host} {'joins' if joined else 'leaves'}")
    if joined:
        steps.lab.join(host)
    else:
        steps.lab.leave(host)
    steps.lab.await_ready(READY_S)


def _collect(steps: LabSteps, turn: Turn, folder: Path, *, schedule: Schedule[Change], ours: bool) -> None:
    """Wait for the first tuple, change the lab as time goes on, and collect; what lacks is for the report.

    Raises:
        StepError: No tuple came, or nothing was collected.
    """
    _await_first_tuple(steps, turn)
    schedule.begin()
    (folder / FIRST_PLACEMENT).write_text(steps.placement(turn.topology.name, folder), encoding="utf-8")
    try:
        steps.collect(turn, folder, schedule)
    except StepError as error:
        if not (folder / _SUMMARY).is_file():
            raise
        # executors that moved have lost their counts: which tuples are missing is seen from their numbers
        sys.stderr.write(f"{turn.label}: {error}\n")
    if ours:
        plan = steps.run("nimbus", "plan", [turn.topology.name, "--json"], folder / "plan.log")
        (folder / PLAN).write_text(plan, encoding="utf-8")


def _await_first_tuple(steps: LabSteps, turn: Turn) -> None:
    stream = SyntheticRun(turn.label).arrivals
    steps.progress.detail("waiting for the first tuple")
    block = ("BLOCK", f"{_FIRST_TUPLE_S * 1000:.0f}", "COUNT", "1", "STREAMS", stream, "0")
    answer: list[str] = []
    run_on_host(steps.lab, "redis", ("redis-cli", "XREAD", *block), answer.append)
    if not any(stream in line for line in answer):
        raise StepError(f"{turn.label}: no tuple came to the sink within {_FIRST_TUPLE_S:.0f} s")
