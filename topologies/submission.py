"""Submission of any topology here without Leiningen, ssh or a storm binary: jar, configuration, Thrift."""

from __future__ import annotations

import sys
import tempfile
import zipfile
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import formats
import topologies
from topologies import nimbus

if TYPE_CHECKING:
    from collections.abc import Mapping

    from formats.address import Address
    from topologies.run_id import NamedRun

PIN_KEY = "topology.stormplace.pin"
ACKERS_KEY = "topology.acker.executors"
WORKERS_KEY = "topology.workers"

_DEFAULTS: Mapping[str, object] = {
    WORKERS_KEY: 4,
    # a lost tuple is noticed without them: the taxi queries guard their own batches, synthetic runs count
    ACKERS_KEY: 0,
    "topology.eventlogger.executors": 0,
    # for schedulers that count CPU: two executors fill a host of one core
    "topology.component.cpu.pcore.percent": 50.0,
    "topology.message.timeout.secs": 60,
    # a component silent for so long takes its worker down; generous, as test machines are busy
    "topology.subprocess.timeout.secs": 120,
    "topology.stats.sample.rate": 1.0,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission(ABC):
    """What to submit; subclasses say what the topology is and does.

    Attributes:
        name: Name of the topology.
        run: The run that it serves.
        redis: Redis as the workers see it.
        workers: Worker slots to ask for; None leaves the default.
        pins: Where components must run: `{component: "site:NAME" | "host:NAME"}`.
        python_env: Environment of the workers' Python with streamparse, the same absolute path everywhere.
        conf: The user's topology configuration; wins over all defaults and options.
    """

    name: str
    run: NamedRun
    redis: Address
    workers: int | None = None
    pins: Mapping[str, str] = field(default_factory=dict)
    python_env: Path = Path(sys.prefix)
    conf: Mapping[str, object] = field(default_factory=dict)

    @abstractmethod
    def configuration(self) -> dict[str, object]:
        """Return the topology configuration.

        Raises:
            ValueError: A key of the topology's own is wrong.
        """

    @abstractmethod
    def thrift_topology(self) -> Any:
        """Return the topology as Storm wants it, its components started by `command`."""

    def write_jar(self, path: Path) -> None:
        """Write the file that workers get; subclasses may add what they need.

        Raises:
            OSError: It cannot be written.
            ValueError: What belongs into it cannot be made.
        """
        write_jar(path)

    @property
    def command(self) -> Path:
        """The program that starts a component: a bare name would depend on the PATH of the worker's JVM."""
        return self.python_env / "bin" / "streamparse_run"

    def base_configuration(self) -> dict[str, object]:
        """Return what a configuration begins with: defaults, workers and pins."""
        conf = dict(_DEFAULTS)
        if self.workers is not None:
            conf[WORKERS_KEY] = self.workers
        if self.pins:
            conf[PIN_KEY] = dict(self.pins)
        return conf


def submit(address: Address, submission: Submission) -> None:
    """Upload the jar and submit a topology.

    Args:
        address: Nimbus' Thrift port.
        submission: The topology.

    Raises:
        NimbusError: Nimbus cannot be reached or refuses.
        FileNotFoundError: The Python environment has no `streamparse_run`; Nimbus was not asked.
        ValueError: As `Submission.configuration`.
    """
    conf, topology = submission.configuration(), submission.thrift_topology()
    if not submission.command.is_file():
        raise FileNotFoundError(
            f"{submission.command} does not exist: name an environment that has streamparse"
        )
    with tempfile.TemporaryDirectory() as folder, nimbus.connect(address) as client:
        jar = Path(folder) / "topology.jar"
        submission.write_jar(jar)
        nimbus.submit(client, submission.name, jar, conf, topology)


def write_jar(path: Path) -> None:
    """Write this package, and that of formats which it shares, below `resources/`, where components run.

    Storm copies entries whose name begins with `resources/`; a plain zip without a manifest will do.
    """
    packages = [Path(str(each.__file__)).parent for each in (formats, topologies)]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as jar:
        for package in packages:
            for source in sorted(package.rglob("*.py")):
                jar.write(source, Path("resources") / package.name / source.relative_to(package))
