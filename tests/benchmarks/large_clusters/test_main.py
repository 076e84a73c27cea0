"""Options, names and the table of the benchmark."""

from __future__ import annotations

import re

import pytest

from benchmarks.large_clusters.__main__ import MADE, file_name, made_cluster
from benchmarks.large_clusters.table import table


def test_what_a_made_cluster_leaves_out_is_as_documented() -> None:
    assert made_cluster("made:") == MADE
    assert made_cluster("made:hosts=7,seed=3") == {**MADE, "hosts": 7, "seed": 3}


@pytest.mark.parametrize("pair", ["host=7", "hosts", "hosts=0", "hosts=-1", "hosts=many", "hosts=1.5"])
def test_a_bad_pair_is_named(pair: str) -> None:
    with pytest.raises(ValueError, match=re.escape(f"{pair!r} is no pair of hosts, racks")):
        made_cluster(f"made:racks=2,{pair}")


def test_a_cluster_names_a_file() -> None:
    assert file_name("made:hosts=7,seed=3") == "made-hosts-7-seed-3"
    assert file_name("recorded-03") == "recorded-03"


def test_a_row_shows_what_is_not_placed_and_what_is_wrong() -> None:
    run = {
        "scheduler": "ras",
        "executors": 1200,
        "placed": 845,
        "seconds": [0.01, 2.0],
        "distance": None,
        "workers": 3,
        "faults": {"missing": 4},
        "unchanged": {"seconds": [0.002, 0.003], "daemon_processor_s_per_round": 0.0},
        "losses": [{"scenario": "host_lost", "seconds": [0.5], "restarted": 7}],
    }
    cluster = dict.fromkeys(("topologies", "components", "edges", "hosts", "racks", "slots"), 1)
    text = table({"name": "n", "executors": 1200, "least_distance": 0.25, "runs": [run], **cluster})
    assert text.splitlines()[-1] == (
        "| ras | 845 of 1,200 | 10 ms + 2 s | - | 3 | missing 4 | 3 ms; - | - | - | 0.5 s; 7 |"
    )
