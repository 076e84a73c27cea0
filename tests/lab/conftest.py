from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.lab.running import running_lab

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lab.cluster import LabClient

TWO_SITES = """
executors_per_host = 2

[[site]]
name = "near"
supervisors = 2
slots = 2
services = true

[[site]]
name = "far"
supervisors = 1
slots = 2

[[link]]
between = ["near", "far"]
delay_ms = 20.0
"""

THREE_SITES = """
[[site]]
name = "near"
supervisors = 2
slots = 2
services = true

[[site]]
name = "far"
supervisors = 2
slots = 2

[[site]]
name = "edge"
supervisors = 1
slots = 2

[[link]]
between = ["near", "far"]
delay_ms = 20.0

[[link]]
between = ["near", "edge"]
delay_ms = 60.0

[[link]]
between = ["far", "edge"]
delay_ms = 50.0
"""


@pytest.fixture(scope="session")
def two_sites(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sites") / "two.toml"
    path.write_text(TWO_SITES, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabClient]:
    """A running lab of three sites and five supervisors; tests may leave it under any scheduler."""
    with running_lab(tmp_path_factory.mktemp("three"), THREE_SITES, "even") as client:
        yield client


class LiveReadings:
    """What the agents of a lab publish, from now on."""

    def __init__(self, lab: LabClient) -> None:
        watch = [sys.executable, str(Path(__file__).with_name("watch_readings.py")), "nimbus:2181"]
        self._process = lab.exec("nimbus", watch, stdout=subprocess.PIPE, text=True)
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._listen)
        self._thread.start()

    def _listen(self) -> None:
        for line in self._process.stdout or ():
            self._lines.put(line)
        self._lines.put("")

    def until(self, limit_s: float, faults: Callable[[dict[str, Any]], list[str]]) -> dict[str, Any]:
        """Wait for readings (host -> reading) in which nothing is at fault any more, and return them."""
        deadline_s = time.monotonic() + limit_s
        found = ["no agent has published anything"]
        while found:
            try:
                line = self._lines.get(timeout=max(0.0, deadline_s - time.monotonic()))
            except queue.Empty:
                pytest.fail(f"after {limit_s:.0f} s: {'; '.join(found)}")
            assert line, "the watch of the readings has ended"
            readings: dict[str, Any] = json.loads(line)
            found = faults(readings)
        return readings

    def close(self) -> None:
        self._process.kill()
        self._thread.join()
        self._process.wait()


@pytest.fixture
def readings(lab: LabClient) -> Iterator[LiveReadings]:
    live = LiveReadings(lab)
    try:
        yield live
    finally:
        live.close()
