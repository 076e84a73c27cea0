"""A host that was given back and comes again, under Storm's own settings of BlacklistScheduler."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from lab.layout import NIMBUS
from tests.lab.running import running_lab

if TYPE_CHECKING:
    from pathlib import Path

    from lab.cluster import LabClient

pytestmark = [pytest.mark.lab, pytest.mark.timeout(600)]

SITES = """
[storm]
"blacklist.scheduler.tolerance.count" = 3
[[site]]
name = "near"
supervisors = 2
slots = 1
services = true
"""
LOOK = """
import json
from formats.address import Address
from provisioning.cluster.nimbus import NimbusCluster
look = NimbusCluster([Address("nimbus", 6627)]).look(())
print(json.dumps([sorted(look.supervisors), sorted(look.banned)]))
"""
WAIT_S = 120.0


def hosts(lab: LabClient) -> list[list[str]]:
    """Return the hosts that the elastic loop sees, and those of them that are banned."""
    process = lab.exec(NIMBUS, [sys.executable, "-c", LOOK], stdout=subprocess.PIPE, text=True)
    said, _ = process.communicate(timeout=WAIT_S)
    found: list[list[str]] = json.loads(said)
    return found


def test_a_machine_that_comes_back_is_banned_and_a_new_one_is_not(tmp_path: Path) -> None:
    """Storm knows supervisors by the id in their folders."""
    with running_lab(tmp_path, SITES, "even") as lab:
        assert hosts(lab) == [["near-1", "near-2"], []]
        lab.leave("near-2")
        log, end_s = lab.folder.logs / "nimbus.log", time.monotonic() + WAIT_S
        while "add supervisor" not in log.read_text(encoding="utf-8", errors="replace"):
            assert time.monotonic() < end_s, "Storm has banned nothing"
            time.sleep(0.3)
        lab.join("near-2")
        lab.await_ready(WAIT_S)
        assert hosts(lab) == [["near-1", "near-2"], ["near-2"]]
        lab.leave("near-2")
        shutil.rmtree(lab.folder.storm / "near-2" / "local")
        lab.join("near-2")
        lab.await_ready(WAIT_S)
        assert hosts(lab) == [["near-1", "near-2"], []]
