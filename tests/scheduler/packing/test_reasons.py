"""The first limit that keeps a job from being placed, in one phrase."""

from __future__ import annotations

import numpy as np
import pytest

from scheduler.packing.fleet import Ledger
from scheduler.packing.job import Worker, WorkerRules
from scheduler.packing.reasons import why_no_room
from tests.scheduler.packing.made_fleets import fleet, job


@pytest.mark.parametrize(
    ("changes", "slots", "phrase"),
    [
        ({}, 0, "no permitted host has a free worker slot"),
        ({"permitted": np.zeros((1, 6), dtype=np.bool_)}, 4, "no permitted host has a free worker slot"),
        (
            {"demand": np.array([[500.0, 1.0]])},
            4,
            "an executor needs 500 of CPU, the largest host has 400",
        ),
        (
            {"demand": np.array([[300.0, 1.0]])},
            4,
            "an executor needs 300 of CPU, no host has more than 200 left",
        ),
        ({"demand": np.array([[150.0, 1.0]])}, 4, "it needs 1500 of CPU, 1200 are left"),
        ({"rules": WorkerRules(executors=1)}, 1, "it needs 10 workers, 6 slots are free"),
        (
            {"per_node": np.array([1])},
            4,
            "a node may run 1 executor of c0 (maxNodeCoLocationCnt): 6 more have a place, 10 need one",
        ),
        (
            {"per_node": np.array([2]), "running": (Worker(0, np.array([3])), Worker(1, np.array([1])))},
            4,
            "a node may run 2 executors of c0 (maxNodeCoLocationCnt): 9 more have a place, 10 need one",
        ),
        ({"demand": np.array([[110.0, 1.0]])}, 4, "what is left of the hosts lies too scattered for it"),
    ],
)
def test_the_first_limit_is_named(changes: dict[str, object], slots: int, phrase: str) -> None:
    nodes = fleet()
    ledger = Ledger(nodes.capacity - [200.0, 0.0], np.full(6, slots))
    assert why_no_room(nodes, ledger, job([10], **changes), ("CPU", "memory"), ("c0",)) == phrase
