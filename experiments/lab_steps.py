"""Steps of a turn: each runs a `stormplace` command on a host of the emulated wide area."""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from experiments.busy import BusyMeter
from experiments.lab_command import Errands, run_on_host
from lab.errors import LabError
from topologies.taxi.keys import PACED_ROWS_BEGIN

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from experiments.progress import Progress
    from experiments.topologies.description import FeedCommand, Turn
    from lab.cluster import LabClient
    from lab.storm_config import SchedulerName

NIMBUS = "nimbus:6627"
REDIS = "redis:6379"
PLACEMENT = "placement.json"

CPU_PERCENT = 50.0
"""What an executor asks for, of one core."""
TOPOLOGY_CONF: dict[str, object] = {
    # two executors of 50 % fit a supervisor of 100 %
    "topology.component.cpu.pcore.percent": CPU_PERCENT,
    # the resource-aware scheduler's order of executors that keeps neighbours together; others ignore it
    "topology.ras.order.executors.by.proximity.needs": True,
}


class StepError(Exception):
    """A step ended with an error; the message names it and shows its last line."""


class FeedErrands(Errands, Protocol):
    """What has to be done while rows are fed."""

    def begin(self) -> None:
        """Count the time from now on: the paced rows begin."""
        ...


@dataclass(frozen=True)
class LabSteps:
    """Runs the steps of turns; those that are commands raise a `StepError` when theirs fails.

    Attributes:
        lab: The lab, up.
        progress: Where steps and details are shown.
    """

    lab: LabClient
    progress: Progress

    def use_scheduler(self, scheduler: SchedulerName) -> None:
        """Restart Nimbus with this scheduler and wait until it leads."""
        self.progress.step(f"{scheduler}: Nimbus takes the scheduler")
        if self.lab.status().scheduler != scheduler:
            self.lab.use_scheduler(scheduler)

    def submit(self, turn: Turn, folder: Path) -> None:
        """Submit a turn's topology; its configuration and the log stay in the folder."""
        topology = turn.topology
        self.progress.step(f"{turn.label}: submitting {topology.title}")
        own = {} if turn.strategy is None else {"topology.stormplace.strategy": turn.strategy}
        file = folder / "topology-conf.json"
        content = TOPOLOGY_CONF | dict(turn.conf) | own
        file.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
        arguments = ["submit", "--nimbus", NIMBUS, "--redis", REDIS, "--run", turn.label]
        arguments += ["--name", topology.name, "--workers", str(turn.workers), "--conf", str(file)]
        arguments += topology.submit
        for component, place in turn.pins.items():
            arguments += ["--pin", f"{component}={place}"]
        self.run("nimbus", topology.group, arguments, folder / "submit.log")

    def feed(
        self, turn: Turn, feeding: FeedCommand, folder: Path, errands: FeedErrands | None = None
    ) -> float:
        """Feed a turn's rows.

        Args:
            turn: The turn.
            feeding: How it is fed.
            folder: Folder of the log.
            errands: What has to be done meanwhile.

        Returns:
            Share of the processors' time (0 to 1) that was used while the paced rows were fed.
        """
        self.progress.step(f"{turn.label}: {feeding.title}")
        arguments = [feeding.command, "--redis", REDIS, "--run", turn.label, *feeding.arguments]
        if feeding.rejects is not None:
            arguments += ["--rejects", str(folder / feeding.rejects)]
        meter = BusyMeter()

        def take(line: str) -> None:
            if line.startswith(PACED_ROWS_BEGIN):
                meter.restart()
                if errands is not None:
                    errands.begin()

        log = folder / "feed.log"
        self.run("redis", turn.topology.group, arguments, log, take=take, errands=errands)
        return meter.fraction()

    def collect(self, turn: Turn, folder: Path, errands: Errands | None = None) -> None:
        """Wait for the run's end and write its results; if some are missing, those that there are.

        Args:
            turn: The turn.
            folder: Its folder.
            errands: What has to be done meanwhile.
        """
        self.progress.step(f"{turn.label}: collecting results")
        arguments = ["collect", "--redis", REDIS, "--run", turn.label, "--out", str(folder)]
        arguments += turn.topology.collect
        self.run("redis", turn.topology.group, arguments, folder / "collect.log", errands=errands)

    def placement(self, name: str, folder: Path) -> str:
        """Return where the executors of a topology run, as JSON."""
        arguments = ["placement", "--nimbus", NIMBUS, "--name", name]
        return self.run("nimbus", "taxi", arguments, folder / "placement.log")

    def kill(self, name: str, folder: Path) -> None:
        """Kill a topology."""
        self.run("nimbus", "taxi", ["kill", "--nimbus", NIMBUS, "--name", name], folder / "kill.log")

    def discard(self, name: str, folder: Path) -> None:
        """Kill a topology if it still runs, after a failure whose reason counts."""
        # it may never have been there, and with a lab that is gone it is gone too
        with suppress(StepError, LabError):
            self.kill(name, folder)

    def run(
        self,
        host: str,
        group: str,
        arguments: list[str],
        log: Path,
        *,
        take: Callable[[str], None] = lambda _: None,
        errands: Errands | None = None,
    ) -> str:
        """Run a command of `stormplace` on a host of the lab; its output goes to the log and to the display.

        Returns:
            What it wrote.

        Raises:
            StepError: It ended with a non-zero status.
        """
        command = [sys.executable, "-m", "cli.main", group, *arguments]
        output: list[str] = []
        with log.open("w", encoding="utf-8") as file:

            def keep(line: str) -> None:
                file.write(line)
                output.append(line)
                self.progress.detail(line)
                take(line)

            status = run_on_host(self.lab, host, command, keep, errands)
        if status != 0:
            last = next((line.strip() for line in reversed(output) if line.strip()), "no output")
            raise StepError(f"`{group} {arguments[0]}` on {host} ended with status {status}: {last}")
        return "".join(output)
