"""Steps of demo and experiments: each runs a `stormplace` command on a host of the emulated wide area."""

from __future__ import annotations

import gzip
import json
import sys
import tomllib
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from experiments.busy import BusyMeter
from experiments.errors import ExperimentError
from experiments.lab_command import run_on_host
from lab.errors import LabError
from topologies.taxi.keys import PACED_ROWS_BEGIN

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from typing import TextIO

    from experiments.lab_command import Attendant
    from experiments.progress import Progress
    from lab.cluster import LabClient
    from lab.storm_config import SchedulerName

NIMBUS = "nimbus:6627"
REDIS = "redis:6379"

TOPOLOGY_CONF: dict[str, object] = {
    # two executors of 50 % fit a supervisor of 100 %
    "topology.component.cpu.pcore.percent": 50.0,
    # the resource-aware scheduler's order of executors that keeps neighbours together; others ignore it
    "topology.ras.order.executors.by.proximity.needs": True,
}


class StepError(Exception):
    """A step ended with an error; the message names it and shows its last line."""


def count_rows(data: Path) -> int:
    """Count the rows of a taxi file, plain or gzip.

    Raises:
        ExperimentError: The file cannot be read or is truncated.
    """
    opener = gzip.open if data.suffix == ".gz" else open
    try:
        with opener(data, "rb") as lines:
            return sum(1 for _ in lines)
    except (OSError, EOFError) as error:
        raise ExperimentError(f"{data}: cannot be read: {error}") from error


@dataclass(frozen=True)
class LabSteps:
    """Runs the steps of one scheduler's turn.

    Attributes:
        lab: The lab, up.
        progress: Where steps and details are shown.
        data: Taxi rows.
    """

    lab: LabClient
    progress: Progress
    data: Path

    def services_site(self, sites: Path) -> str:
        """The site where Nimbus and Redis live, by the site file."""
        with sites.open("rb") as file:
            return next(str(site["name"]) for site in tomllib.load(file)["site"] if site.get("services"))

    def use_scheduler(self, scheduler: SchedulerName) -> None:
        """Restart Nimbus with this scheduler and wait until it leads."""
        self.progress.step(f"{scheduler}: Nimbus takes the scheduler")
        if self.lab.status().scheduler != scheduler:
            self.lab.use_scheduler(scheduler)

    def submit(
        self,
        scheduler: str,
        name: str,
        workers: int,
        pins: Mapping[str, str],
        run_dir: Path,
        *,
        strategy: str | None = None,
        conf: Mapping[str, object] | None = None,
        query: str = "1",
    ) -> None:
        """Submit the query, with a strategy of its own and further configuration if they are given.

        Args:
            scheduler: Name of the run.
            name: Name of the topology.
            workers: Worker slots to ask for.
            pins: Places by component.
            run_dir: Folder of the log and of the configuration.
            strategy: Strategy of the topology's own; None: that of the daemon.
            conf: Further configuration.
            query: `1`, `2` or `both`.

        Raises:
            StepError: The command failed.
        """
        self.progress.step(f"{scheduler}: submitting the taxi query")
        own = {} if strategy is None else {"topology.stormplace.strategy": strategy}
        file = run_dir / "topology-conf.json"
        content = TOPOLOGY_CONF | dict(conf or {}) | own
        file.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
        arguments = ["submit", "--nimbus", NIMBUS, "--redis", REDIS, "--run", scheduler, "--name", name]
        arguments += ["--workers", str(workers), "--conf", str(file), "--query", query]
        for component, place in pins.items():
            arguments += ["--pin", f"{component}={place}"]
        self._taxi("nimbus", arguments, run_dir / "submit.log")

    def feed(
        self,
        scheduler: str,
        fast_rows: int,
        rate: float,
        paced_rows: int,
        run_dir: Path,
        attendant: Attendant | None = None,
    ) -> float:
        """Feed the fast rows, wait for their results, feed the paced rows.

        Args:
            scheduler: Name of the run.
            fast_rows: Rows fed as fast as they are consumed.
            rate: Rows per second after them.
            paced_rows: Rows at that rate.
            run_dir: Folder of the log.
            attendant: What has to be done meanwhile.

        Returns:
            Share of the processors' time (0 to 1) that was used while the paced rows were fed.

        Raises:
            StepError: The command failed.
        """
        self.progress.step(f"{scheduler}: {fast_rows} rows fast, then {paced_rows} rows at {rate:g} rows/s")
        arguments = ["feed", str(self.data), "--redis", REDIS, "--run", scheduler]
        arguments += ["--fast-rows", str(fast_rows), "--rate", str(rate), "--paced-rows", str(paced_rows)]
        return self._fed(arguments, run_dir, attendant)

    def replay(self, scheduler: str, fast_rows: int, speed: float, run_dir: Path) -> float:
        """Feed the fast rows, wait for their results, feed the others at a multiple of their own speed.

        Returns:
            As `feed`.

        Raises:
            StepError: The command failed.
        """
        self.progress.step(f"{scheduler}: {fast_rows} rows fast, then all at {speed:g} times their speed")
        arguments = ["replay", str(self.data), "--redis", REDIS, "--run", scheduler, "--speed", str(speed)]
        arguments += ["--fast-rows", str(fast_rows)]
        arguments += ["--rejects", str(run_dir / "rejects.csv")]
        return self._fed(arguments, run_dir)

    def _fed(self, arguments: list[str], run_dir: Path, attendant: Attendant | None = None) -> float:
        meter = BusyMeter()
        self._taxi("redis", arguments, run_dir / "feed.log", _Measuring(meter, attendant))
        return meter.fraction()

    def finish(self, scheduler: str, name: str, run_dir: Path) -> None:
        """Collect results and placement, then kill the topology."""
        self.collect(scheduler, run_dir)
        (run_dir / "placement.json").write_text(self.placement(name, run_dir), encoding="utf-8")
        self.kill(name, run_dir)

    def collect(self, scheduler: str, run_dir: Path) -> None:
        """Wait for the run's end and write its results.

        Raises:
            StepError: No result came, or some are missing: then what there is has been written.
        """
        self.progress.step(f"{scheduler}: collecting results")
        self._taxi(
            "redis",
            ["collect", "--redis", REDIS, "--run", scheduler, "--out", str(run_dir)],
            run_dir / "collect.log",
        )

    def placement(self, name: str, run_dir: Path) -> str:
        """Return where the executors run, as JSON."""
        return self._taxi(
            "nimbus", ["placement", "--nimbus", NIMBUS, "--name", name], run_dir / "placement.log"
        )

    def kill(self, name: str, run_dir: Path) -> None:
        """Kill the topology."""
        self._taxi("nimbus", ["kill", "--nimbus", NIMBUS, "--name", name], run_dir / "kill.log")

    def discard(self, name: str, run_dir: Path) -> None:
        """Kill the topology if it still runs, after a failure whose reason counts."""
        # it may never have been there, and with a lab that is gone it is gone too
        with suppress(StepError, LabError):
            self.kill(name, run_dir)

    def _taxi(self, host: str, arguments: list[str], log: Path, attendant: Attendant | None = None) -> str:
        """Run `stormplace taxi ...` on a host of the lab; its output goes to the log and to the display.

        Returns:
            What it wrote.

        Raises:
            StepError: It ended with a non-zero status.
        """
        command = [sys.executable, "-m", "cli.main", "taxi", *arguments]
        with log.open("w", encoding="utf-8") as file:
            log_keeper = _LogKeeper(file, self.progress, attendant)
            status = run_on_host(self.lab, host, command, log_keeper)
        output = log_keeper.output
        if status != 0:
            last = next((line.strip() for line in reversed(output) if line.strip()), "no output")
            raise StepError(f"`taxi {arguments[0]}` on {host} ended with status {status}: {last}")
        return "".join(output)


class _Measuring:
    """Lets a meter begin with the paced rows; leaves the rest to another attendant, if there is one."""

    def __init__(self, meter: BusyMeter, attendant: Attendant | None) -> None:
        self._meter = meter
        self._attendant = attendant

    def heard(self, line: str) -> None:
        if line.startswith(PACED_ROWS_BEGIN):
            self._meter.restart()
        if self._attendant is not None:
            self._attendant.heard(line)

    def due_s(self) -> float | None:
        return None if self._attendant is None else self._attendant.due_s()

    def act(self) -> None:
        if self._attendant is not None:
            self._attendant.act()


class _LogKeeper:
    """Keeps and shows the lines of a command; leaves the rest to another attendant, if there is one."""

    def __init__(self, file: TextIO, progress: Progress, attendant: Attendant | None) -> None:
        self.output: list[str] = []
        self._file = file
        self._progress = progress
        self._attendant = attendant

    def heard(self, line: str) -> None:
        self._file.write(line)
        self.output.append(line)
        self._progress.detail(line)
        if self._attendant is not None:
            self._attendant.heard(line)

    def due_s(self) -> float | None:
        return None if self._attendant is None else self._attendant.due_s()

    def act(self) -> None:
        if self._attendant is not None:
            self._attendant.act()
