"""Names of clusters, and the tables of the benchmark."""

from __future__ import annotations

import re
from typing import Any

import pytest

from benchmarks.large_clusters.clusters import (
    MADE,
    RECORDED,
    SETS,
    clusters_of,
    file_name,
    made_cluster,
    parameters,
)
from benchmarks.large_clusters.table import table

CLUSTER = {
    "name": "n",
    "executors": 1200,
    "least_distance": 0.25,
    **dict.fromkeys(("topologies", "components", "edges", "hosts", "racks", "slots"), 1),
}


def run(scheduler: str, **changes: Any) -> dict[str, Any]:
    return {
        "scheduler": scheduler,
        "executors": 1200,
        "placed": 1200,
        "seconds": [0.01],
        "distance": 0.5,
        "workers": 3,
        "faults": {},
        "unchanged": {"seconds": [0.2], "daemon_processor_s": 0.0, "lasted_s": 1.0},
        "heap_mb": 300.0,
        "scheduler_heap_mb": 1.0,
        "scheduler_threads": [],
        "daemon_processor_s": 0.0,
        **changes,
    }


def test_what_a_made_cluster_leaves_out_is_as_documented() -> None:
    assert made_cluster("made:") == MADE
    assert made_cluster("made:hosts=7,seed=3") == {**MADE, "hosts": 7, "seed": 3}


@pytest.mark.parametrize("pair", ["host=7", "hosts", "hosts=0", "hosts=-1", "hosts=many", "hosts=1.5"])
def test_a_bad_pair_is_named(pair: str) -> None:
    with pytest.raises(ValueError, match=re.escape(f"{pair!r} is no pair of hosts, racks")):
        clusters_of(f"made:racks=2,{pair}")


def test_a_name_stands_for_a_cluster_or_a_set() -> None:
    assert clusters_of("recorded") == RECORDED
    assert clusters_of("recorded-03") == ("recorded-03",)
    with pytest.raises(ValueError, match="'large' is none of recorded, growth, made, recorded-01"):
        clusters_of("large")


def test_clusters_that_grow_have_twenty_executors_on_a_host() -> None:
    sizes = [made_cluster(name) for name in SETS["growth"]]
    executors = [each["topologies"] * each["executors"] for each in sizes]
    assert (executors[0], executors[-1]) == (1_000, 100_000)
    assert [each["hosts"] * 20 for each in sizes] == executors


def test_a_cluster_names_a_file() -> None:
    assert file_name("made:hosts=7,seed=3") == "made-hosts-7-seed-3"
    assert file_name("recorded-03") == "recorded-03"


def test_the_java_side_gets_a_name_or_what_a_cluster_is_made_of() -> None:
    assert parameters("recorded-03") == "recorded-03"
    assert parameters("made:hosts=7") == {**MADE, "hosts": 7}


def test_a_row_shows_what_is_not_placed_and_what_is_wrong() -> None:
    ras = run(
        "ras",
        placed=845,
        seconds=[0.01, 2.0],
        distance=None,
        faults={"missing": 4},
        unchanged={"seconds": [0.2, 0.002, 0.003, 0.1], "daemon_processor_s": 0.0, "lasted_s": 1.0},
        losses=[
            {"scenario": "one_in_each", "seconds": [0.2], "restarted": 0, "placed": 1190},
            {"scenario": "host_lost", "seconds": [1, 1, 3, 1, 1, 1], "restarted": 7, "placed": 1200},
        ],
    )
    placed = "| ras | 845 of 1,200 | 10 ms + 2 s | - | 3 | missing 4 "
    later = "| 0.2 s, 3 ms, 0.1 s | 0.2 s; 0; 10 unplaced | - | 6 rounds, 8 s, the longest 3 s; 7 |"
    assert placed + later in table({**CLUSTER, "runs": [ras]}).splitlines()


def test_what_a_scheduler_costs_is_compared_with_the_default_one() -> None:
    ours = run(
        "stormplace",
        heap_mb=330.0,
        scheduler_heap_mb=28.0,
        scheduler_threads=["a", "b"],
        daemon_peak_mb=150.4,
        daemon_processor_s=0.5,
        unchanged={"seconds": [0.2], "daemon_processor_s": 0.6, "lasted_s": 120.0},
    )
    lines = table({**CLUSTER, "runs": [ours, run("default"), run("default", heap_mb=310.0)]}).splitlines()
    assert "| stormplace | 330 | 28.0 | 30.0 | 2 | 150 | 0.5 s | 0.5 % |" in lines
    assert lines[-1] == "| default | 310 | 1.0 | 10.0 | 0 | - | - | - |"


def test_a_scheduler_that_took_too_long_is_named() -> None:
    text = table({**CLUSTER, "runs": [run("stormplace"), {"scheduler": "ras", "overdue_s": 120.0}]})
    assert "ras: a round takes longer than 120 s" in text.splitlines()
    assert "| ras" not in text
