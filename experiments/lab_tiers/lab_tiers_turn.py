"""One turn: the query runs, the uplinks are watched, and what the report needs is kept."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING

from experiments.folder_content import DONE
from experiments.lab_steps import PLACEMENT, LabSteps, StepError
from experiments.lab_tiers.daemon_bandwidths import state_bandwidths
from experiments.lab_tiers.kept import TiersDone
from experiments.lab_tiers.planned_flows import FLOWS, planned_flows
from experiments.lab_tiers.query_conf import describe
from experiments.lab_tiers.uplinks import EVERY_S, UPLINKS, KeptUplinks, Look, Watch
from experiments.machine import provenance
from experiments.response_time.planned import planned_as_it_ran
from experiments.schedule import Schedule
from experiments.turn_run import run_turn
from replay.analysis.kept_turn import PLANNED
from replay.output import write_json

if TYPE_CHECKING:
    from pathlib import Path

    from experiments.lab_tiers.lab_tiers_settings import LabTiersSettings
    from experiments.lab_tiers.uplinks import Sample
    from experiments.lab_tiers.variants import VariantTurn
    from experiments.topologies.description import Description, Turn

UNSEEN_S = 2.0
"""The last look is so much before the last row is due, so that feeding has not ended."""


@dataclass(frozen=True)
class TurnSetting:
    """What a turn needs to know beside which one it is.

    Attributes:
        settings: The experiment's settings.
        query: The taxi query.
        rows: Rows of the data file.
    """

    settings: LabTiersSettings
    query: Description
    rows: int


def run_tiers_turn(steps: LabSteps, folder: Path, *, turn: VariantTurn, setting: TurnSetting) -> None:
    """Run one turn; its folder ends with `done.json` or without it.

    Args:
        steps: The steps of a lab that is up.
        folder: The turn's folder; what an earlier try has left there is removed.
        turn: Which one.
        setting: What holds for all turns.

    Raises:
        StepError: A step failed, or the query ran elsewhere than planned; it does not run any more.
        lab.errors.LabError: The lab does not do what it is asked to.
    """
    settings, variant = setting.settings, turn.variant
    measured_rows = settings.measured_rows(variant, setting.rows)
    asked = describe(settings, turn, setting.query, measured_rows)
    if variant.strategy is not None:
        state_bandwidths(steps, settings.site_file, bandwidths=variant.stated)
    watch = Watch(steps.lab)
    steps.progress.detail(f"uplinks without the query, {settings.rest_s:g} s")
    idle = watch.rest(settings.rest_s)
    still: list[tuple[Sample, Sample]] = []

    def collect(steps: LabSteps, turn: Turn, folder: Path) -> None:
        LabSteps.collect(steps, turn, folder)
        steps.progress.detail(f"uplinks without rows, {settings.rest_s:g} s")
        still.append(watch.rest(settings.rest_s))

    duration_s = (settings.warm_up_rows(variant) + measured_rows) / settings.rate_of(variant)
    schedule = Schedule(_looks(duration_s), watch.look)
    started_s = partial(schedule.start_s, "taxi feed")
    submitted_s = time.time()
    figures = run_turn(steps, folder, asked, errands=schedule, fed=started_s, collect=collect)
    if variant.strategy is not None:
        records = steps.lab.folder.records
        planned = planned_as_it_ran(turn.label, folder, records)
        write_json(folder / PLANNED, planned.model_dump(mode="json"))
        topology_id = json.loads((folder / PLACEMENT).read_text(encoding="utf-8"))["id"]
        begin_s = started_s() + settings.warm_up_s
        flows = planned_flows(records, topology_id, submitted_s, begin_s, figures.fed_s)
        if flows is None:
            raise StepError(f"{turn.label}: the placement daemon has no round in which {topology_id} runs")
        write_json(folder / FLOWS, flows.model_dump(mode="json"))
    kept = KeptUplinks(idle=idle, paced=tuple(watch.paced), still=still[0])
    write_json(folder / UPLINKS, kept.model_dump(mode="json"))
    done = TiersDone(
        variant=variant.name,
        repetition=turn.repetition,
        scheduler=variant.scheduler,
        strategy=variant.strategy,
        rate=settings.rate_of(variant),
        fast_rows=settings.first_rows,
        warm_up_rows=settings.warm_up_rows(variant),
        measured_rows=measured_rows,
        busy=figures.busy,
        process_ends=dict(figures.process_ends),
        **asdict(provenance()),
        overload=variant.overload,
        stated=variant.stated,
        together=settings.together,
        started_s=started_s(),
        fed_s=figures.fed_s,
    )
    write_json(folder / DONE, done.model_dump(mode="json"))


def _looks(duration_s: float) -> list[Look]:
    count = max(int((duration_s - UNSEEN_S) // EVERY_S), 1)
    return [Look(number * EVERY_S) for number in range(count + 1)]
