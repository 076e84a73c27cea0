"""One turn: one variant places the query, rows run through it, what is needed for the report is kept."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from experiments.folder_content import DONE
from experiments.lab_steps import StepError
from experiments.machine import provenance
from experiments.process_ends import ProcessEnds
from experiments.response_time.planned import find_planned
from replay.analysis.kept_turn import PLANNED, Done, Planned
from replay.output import write_json

if TYPE_CHECKING:
    from pathlib import Path

    from experiments.lab_steps import LabSteps
    from experiments.response_time.settings import ExperimentSettings
    from experiments.response_time.variants import Turn

TOPOLOGY = "taxi"
WORKERS = 4
"""Eight executors, two to a host: four workers is the fewest that fit, so the best for every scheduler."""

PINS = ("dataSource", "globalRank")

STORMPLACE_CONF: dict[str, object] = {
    "topology.stormplace.weights": {"response_time": 1.0},
    # the placement under test is the first one: a move would lose the query's window and measure the move
    "topology.stormplace.frozen": True,
}


@dataclass(frozen=True)
class TurnSetting:
    """What a turn needs to know beside its variant.

    Attributes:
        settings: The experiment's settings.
        fast_rows: Rows before the paced ones.
        home: Host to which source and sink are pinned.
        records: Folder of the placement daemon's records.
    """

    settings: ExperimentSettings
    fast_rows: int
    home: str
    records: Path


def run_turn(steps: LabSteps, turn: Turn, setting: TurnSetting, folder: Path) -> None:
    """Run one turn; its folder ends with `done.json` or without it.

    Args:
        steps: The steps of a lab that is up.
        turn: What to run.
        setting: What holds for all turns.
        folder: The turn's folder; what an earlier try has left there is removed.

    Raises:
        StepError: A step failed; the query does not run any more.
        lab.errors.LabError: The lab does not do what it is asked to.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    variant, settings = turn.variant, setting.settings
    ours = variant.strategy is not None
    steps.use_scheduler(variant.scheduler)
    ends = ProcessEnds(steps.lab)
    try:
        steps.submit(
            turn.label,
            TOPOLOGY,
            WORKERS,
            dict.fromkeys(PINS, f"host:{setting.home}") if ours else {},
            folder,
            strategy=variant.strategy,
            conf=STORMPLACE_CONF if ours else None,
        )
        paced_rows = settings.warm_up_rows + settings.measured_rows
        busy = steps.feed(turn.label, setting.fast_rows, settings.rate, paced_rows, folder)
        steps.finish(turn.label, TOPOLOGY, folder)
    except StepError:
        steps.discard(TOPOLOGY, folder)
        raise
    if ours:
        write_json(folder / PLANNED, _planned(turn, folder, setting.records).model_dump(mode="json"))
    here = provenance()
    done = Done(
        variant=variant.name,
        repetition=turn.repetition,
        scheduler=variant.scheduler,
        strategy=variant.strategy,
        rate=settings.rate,
        fast_rows=setting.fast_rows,
        warm_up_rows=settings.warm_up_rows,
        measured_rows=settings.measured_rows,
        busy=busy,
        process_ends=ends.by_process(),
        machine=here.machine,
        date=here.date,
        commit=here.commit,
    )
    write_json(folder / DONE, done.model_dump())


def _planned(turn: Turn, folder: Path, records: Path) -> Planned:
    """Return the round that placed the query, and see that the query ran where that round put it.

    Raises:
        StepError: It ran elsewhere: the plan came too late, say, and Storm's own scheduler placed the query.
    """
    ran = json.loads((folder / "placement.json").read_text(encoding="utf-8"))
    planned = find_planned(records, ran["id"])
    if planned is None:
        raise StepError(f"{turn.label}: the placement daemon has no record of placing {ran['id']}")
    for executor in ran["executors"]:
        expected = planned.hosts.get(executor["first_task"], executor["host"])
        if executor["host"] != expected:
            raise StepError(
                f"{turn.label}: {executor['component']} ran on {executor['host']}, planned was {expected}; "
                f"Nimbus says: {ran.get('scheduler_status', '')}"
            )
    return planned
