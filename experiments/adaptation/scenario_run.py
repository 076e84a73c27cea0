"""One scenario: the query runs while the schedule changes the network, and what the report needs is kept."""

from __future__ import annotations

import csv
import json
import sys
import time
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING

from experiments.adaptation.network_changes import Network, site_delays
from experiments.adaptation.recorded_rounds import planned_rounds
from experiments.adaptation.report.kept import EVENTS, ROUNDS, ScenarioDone, write_events, write_rounds
from experiments.adaptation.schedule import changes, noise
from experiments.folder_content import DONE
from experiments.lab_steps import PLACEMENT, StepError
from experiments.machine import provenance
from experiments.running_lab import is_gone
from experiments.schedule import Schedule
from experiments.series import settle
from experiments.topologies.description import Turn
from experiments.topologies.taxi_query import at_rate
from experiments.turn_run import run_turn
from lab.errors import LabError, NoLabError
from replay.output import read_json, write_json
from replay.stream_files import RESULTS

if TYPE_CHECKING:
    from pathlib import Path

    from experiments.adaptation.adaptation_settings import AdaptationSettings
    from experiments.adaptation.report.kept import Scenario
    from experiments.adaptation.schedule import Step
    from experiments.lab_steps import LabSteps
    from experiments.topologies.description import Description
    from formats.site_file import SiteFile

ACKERS = 1
_SUMMARY = "summary.json"
CONF: dict[str, object] = {
    "topology.stormplace.weights": {"response_time": 1.0},
    # the source sends again what a killed worker or a cut link swallows
    "taxi.replay": True,
    "topology.acker.executors": ACKERS,
    "topology.message.timeout.secs": 10,
    # the machine must have something left for workers that start: a hop is half a millisecond slower
    "topology.bolt.wait.park.microsec": 1000,
}


@dataclass(frozen=True)
class ScenarioSetting:
    """What a scenario needs to know beside its name.

    Attributes:
        settings: The experiment's settings.
        sites: The site file.
        rows: Rows of the data file.
        topology: What runs.
    """

    settings: AdaptationSettings
    sites: SiteFile
    rows: int
    topology: Description

    def steps(self, scenario: Scenario) -> tuple[Step, ...]:
        """Return what happens to the network in a scenario."""
        settings = self.settings
        if scenario == "changes":
            return changes(settings.calm_s, settings.phase_s)
        if scenario == "noise":
            return noise(settings.duration_s(scenario), site_delays(self.sites), settings.seed)
        return ()


def run_scenario(steps: LabSteps, folder: Path, scenario: Scenario, setting: ScenarioSetting) -> None:
    """Run one scenario; its folder ends with `done.json` or without it.

    Args:
        steps: The steps of a lab that is up, with the network of the site file.
        folder: The scenario's folder; what an earlier try has left there is removed.
        scenario: Which one.
        setting: What holds for all scenarios.

    Raises:
        StepError: A step failed; the query does not run any more, and the network is as before.
        lab.errors.LabError: The lab does not do what it is asked to.
    """
    network = Network(
        steps.lab,
        setting.sites,
        lambda: steps.placement(setting.topology.name, folder),
        time.time,
        lambda text: _show(scenario, text),
    )
    settle(setting.settings.settle_s, steps.progress)
    try:
        done = _measure(steps, folder, scenario, setting, network)
    except StepError as failure:
        if not is_gone(steps.lab):
            _restore_after(failure, network)
        raise
    network.restore()
    write_events(folder / EVENTS, network.events)
    write_json(folder / DONE, done.model_dump(mode="json"))


def _measure(
    steps: LabSteps, folder: Path, scenario: Scenario, setting: ScenarioSetting, network: Network
) -> ScenarioDone:
    """Submit, feed, collect, kill; keep the rounds of that time."""
    settings, topology = setting.settings, setting.topology
    rate, paced_rows = settings.rate_of(scenario), settings.paced_rows(scenario)
    fast_rows = settings.fast_rows(scenario, setting.rows)
    turn = Turn(
        scenario,
        topology,
        at_rate(settings.data, fast_rows, rate, paced_rows),
        None,
        topology.workers(ACKERS),
        settings.strategy,
        dict.fromkeys(topology.ends, f"host:{network.home}-1"),
        CONF,
    )
    submitted_s = time.time()
    schedule = Schedule(setting.steps(scenario), network.carry_out)
    started_s = partial(schedule.start_s, "taxi feed")
    figures = run_turn(steps, folder, turn, errands=schedule, fed=started_s, collect=_collect)
    topology_id = json.loads((folder / PLACEMENT).read_text(encoding="utf-8"))["id"]
    rounds = planned_rounds(steps.lab.folder.records, topology_id, network.home, submitted_s)
    if not rounds:
        raise StepError(f"{scenario}: the placement daemon has no record of {topology_id}")
    write_rounds(folder / ROUNDS, rounds)
    return ScenarioDone(
        scenario=scenario,
        rate=rate,
        fast_rows=fast_rows,
        paced_rows=paced_rows,
        home=network.home,
        sites=setting.sites.names,
        settings=settings.document(),
        busy=figures.busy,
        process_ends=dict(figures.process_ends),
        **asdict(provenance()),
        topology_id=topology_id,
        started_s=started_s(),
        ended_s=figures.fed_s,
        faults=_faults(folder),
    )


def _collect(steps: LabSteps, turn: Turn, folder: Path) -> None:
    """Collect the results; what they lack is for the report to state.

    Raises:
        StepError: Nothing is left to report on: there is no result, or none of a paced row.
    """
    try:
        steps.collect(turn, folder)
    except StepError:
        if not (folder / _SUMMARY).is_file():
            raise
    with (folder / RESULTS).open(encoding="utf-8", newline="") as results:
        if not any(row["paced"] == "1" for row in csv.DictReader(results)):
            none = f"{turn.label}: none of the paced rows has a result"
            raise StepError("; ".join((none, *_faults(folder))))


def _faults(folder: Path) -> tuple[str, ...]:
    listed = read_json(folder / _SUMMARY).get("faults", [])
    return tuple(str(fault) for fault in listed) if isinstance(listed, list) else ()


def _restore_after(failure: StepError, network: Network) -> None:
    """Put the network back for the next scenario; a lab that refuses or goes does not hide what failed."""
    try:
        network.restore()
    except NoLabError:
        return  # it has gone meanwhile, which who gets the failure sees
    except LabError as error:
        raise LabError(f"{failure}; {error}") from failure


def _show(scenario: Scenario, text: str) -> None:
    sys.stderr.write(f"{scenario}: {text}\n")
    sys.stderr.flush()
