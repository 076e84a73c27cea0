"""Legs of a way whose components have several executors."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from replay.analysis.breakdown import Way, legs
from replay.analysis.placement import ExecutorPlace
from replay.analysis.sites import read_sites

SITES = read_sites(Path(__file__).resolve().parents[3] / "lab" / "sites" / "demo.toml")
HOME, WEST, FAR = "uniroma2", "europe-west1", "us-east1"
ROWS = pd.DataFrame(
    {
        "row_ms": [0],
        "emit_us": [2_000],
        "done_us": [200_000],
        "result_ms": [201],
        "parser_in_us": [80_000],
        "parser_out_us": [81_000],
        "last_in_us": [190_000],
    }
)


def place(component: str, task: int, site: str, number: int = 1) -> ExecutorPlace:
    return ExecutorPlace(component, task, f"{site}-{number}", 6700, site)


def test_several_executors_count_alike() -> None:
    """Which of them had a row is not known: the network's part is the mean over all pairs."""
    places = [
        place("dataSource", 1, HOME),
        place("parser", 2, HOME),
        place("parser", 3, WEST),
        place("last", 4, FAR),
        place("last", 5, FAR),
    ]

    way = {leg.name: leg for leg in legs(ROWS, places, SITES, Way(("dataSource", "parser", "last")))}

    first, second = way["dataSource - parser"], way["parser - last"]
    assert (first.place, first.network_ms) == ("several places", pytest.approx((0.0 + 28.0) / 2))
    assert (second.place, second.network_ms) == ("several places", pytest.approx((120.0 + 93.0) / 2))
    assert way["parser"].place == "2 hosts"
    assert (way["last - Redis"].place, way["last - Redis"].network_ms) == (f"{FAR}-1 - {HOME}", 120.0)
    assert second.median_ms == pytest.approx(109.0)
