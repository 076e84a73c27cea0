"""Paths of the project's build products and of a lab's state folder."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

PROJECT_ROOT = Path(__file__).resolve().parent.parent
STORM_HOME = PROJECT_ROOT / "build/storm/apache-storm-2.8.3"
WORKER_JAVA = PROJECT_ROOT / "lab/storm/worker-java"
SHIM_JAR = PROJECT_ROOT / "java-shim/target/stormplace-shim-0.1.0.jar"
DEFAULT_FOLDER = PROJECT_ROOT / "build/lab"
DEMO_SITES = PROJECT_ROOT / "lab/sites/demo.toml"


@dataclass(frozen=True)
class LabFolder:
    """The state folder of one lab; nothing of a lab is kept elsewhere."""

    root: Path

    def command(self, name: str) -> str:
        """Return a command of `stormplace lab` that concerns this lab, as a user types it."""
        where = "" if self.root == DEFAULT_FOLDER else f" --dir {shlex.quote(str(self.root))}"
        return f"`stormplace lab {name}{where}`"

    @property
    def marker(self) -> Path:
        """The file that says that this folder belongs to a lab and may be cleared."""
        return self.root / ".stormplace-lab"

    @property
    def lock(self) -> Path:
        """The file that is locked as long as the lab runs."""
        return self.root / "lock"

    @property
    def state(self) -> Path:
        """Which process anchors the lab."""
        return self.root / "state.json"

    @property
    def socket(self) -> Path:
        """The keeper's control socket."""
        return self.root / "control.sock"

    @property
    def sites(self) -> Path:
        """The copy of the site file that this lab was started with."""
        return self.root / "sites.toml"

    @property
    def hosts(self) -> Path:
        """The private /etc/hosts."""
        return self.root / "hosts"

    @property
    def logs(self) -> Path:
        """Logs of all processes but workers."""
        return self.root / "logs"

    @property
    def storm(self) -> Path:
        """One folder per host: storm.yaml, storm.local.dir and the workers' logs."""
        return self.root / "storm"

    @property
    def zookeeper(self) -> Path:
        """ZooKeeper's configuration and data."""
        return self.root / "zookeeper"

    @property
    def records(self) -> Path:
        """The placement daemon's records; they outlive the lab."""
        return self.root / "records"

    @property
    def daemon_settings(self) -> Path:
        """The placement daemon's settings."""
        return self.root / "daemon.toml"
