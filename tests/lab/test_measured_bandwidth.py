"""Agents find out what the links of a lab carry, and send no more for it than they may.

Whatever else is at work on the machine shows in the figures, so that this test needs it for itself.
"""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pytest

from lab.places import PROJECT_ROOT
from tests.lab.conftest import LiveReadings
from tests.lab.running import running_lab

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.lab, pytest.mark.alone, pytest.mark.timeout(600)]

SHARE = 0.1
CAUTIOUS_BYTES_PER_S = 125_000.0
MBIT = 125_000.0
LIMITED = {
    ("cloud-1", "fog-1"): 10 * MBIT,
    ("cloud-1", "near-1"): 50 * MBIT,
    ("cloud-1", "edge-1"): MBIT,
    ("fog-1", "edge-1"): MBIT,
    ("near-1", "edge-1"): MBIT,
}
"""Paths of `lab/sites/narrow.toml` with a link or an uplink that is limited."""


def faults(readings: dict[str, Any]) -> list[str]:
    """Name the directions whose bandwidth is missing or more than a fifth off."""
    found = []
    for (one, other), expected in LIMITED.items():
        for host, peer in ((one, other), (other, one)):
            link = readings.get(host, {"links": {}})["links"].get(peer, {})
            measured = link.get("bandwidth_bytes_per_s")
            if measured is None or not 0.8 <= measured / expected <= 1.2:
                found.append(f"{host} to {peer}: {measured} instead of {expected}")
    return found


def test_agents_find_out_what_limited_links_carry_within_their_share(tmp_path: Path) -> None:
    """1, 10 and 50 Mbit/s, each in both directions."""
    sites = (PROJECT_ROOT / "lab/sites/narrow.toml").read_text(encoding="utf-8")
    with running_lab(tmp_path, f"bandwidth_share = {SHARE}\n{sites}", "even") as lab:
        live = LiveReadings(lab)
        try:
            live.until(300.0, faults)
        finally:
            live.close()
    for host in {host for pair in LIMITED for host in pair}:
        lines = (lab.folder.logs / f"agent-{host}.out").read_text(encoding="utf-8").splitlines()
        events = {line["event"]: line for line in map(json.loads, lines)}
        began, ended = (
            datetime.fromisoformat(events[name]["timestamp"]) for name in ("agent-started", "agent-stopped")
        )
        allowed = SHARE * CAUTIOUS_BYTES_PER_S * ((ended - began).total_seconds() + 60)
        assert 0 < events["agent-stopped"]["train_bytes"] <= allowed
