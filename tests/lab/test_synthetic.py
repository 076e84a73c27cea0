"""A synthetic application on a real cluster: all tuples arrive, and no path is faster than predicted."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.lab.on_host import stormplace

if TYPE_CHECKING:
    from pathlib import Path

    from lab.cluster import LabClient

pytestmark = [pytest.mark.lab, pytest.mark.timeout(600)]

CLOCK_MS = 0.5
"""Delays of the emulator are kept to within so much."""


def test_a_replicated_application_takes_what_is_predicted(lab: LabClient, tmp_path: Path) -> None:
    """Under even scheduling, across three sites: nothing is lost, and delays are those of the places."""
    where = ("--nimbus=nimbus:6627", "--name=synthetic")
    redis = ("--redis=redis:6379", "--run=lab")
    stormplace(
        *(lab, "synthetic", "submit", *where, *redis, "--application=replicated", "--operators=5"),
        *("--rate=10", "--work-ms=2", "--tuple-bytes=300", "--tuples=160", "--warm-up=10"),
    )
    # it ends with 1 if any tuple is missing
    stormplace(lab, "synthetic", "collect", *redis, f"--out={tmp_path}", "--timeout=120")
    answer = stormplace(
        lab, "synthetic", "check", str(tmp_path), *where, f"--sites={lab.folder.sites}", "--json"
    )
    comparison = json.loads(answer)
    assert len(set(comparison["hosts"].values())) > 1
    assert len(comparison["paths"]) == 2
    for path in comparison["paths"]:
        assert path["tuples"] == 40
        assert path["measured_p50_ms"] > path["predicted_ms"] - CLOCK_MS
    assert comparison["measured_p50_ms"] >= max(path["measured_p50_ms"] for path in comparison["paths"])
