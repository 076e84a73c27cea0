"""Providers of all kinds, each with what stands behind it."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from provisioning.providers.making import make_provider
from provisioning.providers.settings import provider_settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from provisioning.providers.provider import Provider

HERE = Path(__file__).parent
OFFER = {"cpu": 400, "memory_mb": 8192, "slots": 4, "billing_unit_s": 600, "unit_cost": 2, "boot_s": 60}
SITES = """
[network]
[[site]]
name = "rome"
supervisors = 5
slots = 4
services = true
[[host]]
name = "rome-2"
meta = {}
"""


@dataclass
class World:
    """What stands behind a provider, and the settings with which it is made, again and again.

    Attributes:
        folder: Of what stands behind.
        provider: Its table of settings.
        busy: Hosts on which workers run.
        unknown: Why that is not known; None: it is.
    """

    folder: Path
    provider: dict[str, Any]
    busy: set[str] = field(default_factory=set)
    unknown: Exception | None = None

    def made(self, **changes: Any) -> Provider:
        """Make a provider anew, as after a restart, with some settings changed."""
        content: dict[str, Any] = {"provider": {**self.provider, **changes}}
        if self.provider["kind"] != "http":
            content["offer"] = {"small": OFFER}
        return make_provider(provider_settings(content), self.folder / "state", self.is_busy)

    def is_busy(self, host: str) -> bool:
        if self.unknown is not None:
            raise self.unknown
        return host in self.busy

    def become(self, state: str) -> None:
        """Let hosts boot, be `ready` or have `failed`, where that is not up to time alone."""
        if self.provider["kind"] == "simulated":
            self.provider["failed_share"] = float(state == "failed")
        self.behave(status=state)
        (self.folder / "cloud" / "state").write_text(state)

    def behave(self, **behaviour: Any) -> None:
        """Say how the service behaves."""
        (self.folder / "cloud" / "behaviour.json").write_text(json.dumps(behaviour))

    @property
    def calls(self) -> list[str]:
        """What it was asked for."""
        path = self.folder / "cloud" / "calls"
        return path.read_text().splitlines() if path.exists() else []

    @property
    def running(self) -> int | None:
        """How many hosts run; None: nothing is there that could."""
        match self.provider["kind"]:
            case "simulated":
                return None
            case "http":
                leases = self.folder / "cloud" / "leases.json"
                content = json.loads(leases.read_text()) if leases.exists() else {}
                return sum(each["status"] != "gone" for each in content.values())
            case _:
                return len(list((self.folder / "cloud" / "hosts").iterdir()))


@dataclass
class Service:
    """A process of `reference_service.py`."""

    folder: Path
    port: int = 0
    process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Start it, after the first time at the same port."""
        self.process = subprocess.Popen(
            [sys.executable, str(HERE / "reference_service.py"), str(self.folder), str(self.port)],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline())

    def kill(self) -> None:
        """Kill it, or wait until it has ended."""
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None


def tables(folder: Path) -> dict[str, dict[str, Any]]:
    """Settings of each kind that needs no service."""
    cloud = str(folder / "cloud")
    sites = folder / "sites.toml"
    own = "".join(f'[[host]]\nname = "rome-{k}"\njoined = false\n' for k in (3, 4, 5))
    sites.write_text(SITES + own)
    shell = [str(HERE / "cloud.sh"), cloud]
    return {
        "simulated": {"kind": "simulated", "seed": 1},
        "command": {
            "kind": "command",
            "start_command": [*shell, "start", "{request}", "{host}"],
            "stop_command": [*shell, "stop", "{request}"],
            "list_command": [*shell, "list"],
            "host_pattern": "spot-{number}",
        },
        "lab": {"kind": "lab", "sites": str(sites), "program": [str(HERE / "lab.sh"), cloud]},
    }


@pytest.fixture
def make_world(tmp_path: Path) -> Iterator[Any]:
    """Return a function that makes what stands behind a provider of a kind, and a service for `http`."""
    (tmp_path / "cloud" / "hosts").mkdir(parents=True)
    service = Service(tmp_path / "cloud")

    def make(kind: str) -> World:
        if kind == "http":
            service.start()
            fast = {"read_limit_s": 5.0, "retries": 2, "backoff_s": 0.01}
            world = World(tmp_path, {"kind": kind, "url": f"http://127.0.0.1:{service.port}", **fast})
        else:
            world = World(tmp_path, tables(tmp_path)[kind])
        world.provider["boot_limit_s"] = 300.0
        world.become("ready")
        return world

    make.service = service  # type: ignore[attr-defined]
    yield make
    service.kill()
