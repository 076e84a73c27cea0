"""What is asked of the daemon, and of Storm's own scheduler, when the query is submitted."""

from __future__ import annotations

from pathlib import Path

from experiments.lab_tiers.query_conf import describe
from experiments.lab_tiers.variants import turns
from experiments.topologies.taxi_query import taxi_query
from tests.experiments.lab_tiers.made import settings

DATA = Path("rows.csv")


def test_the_daemon_is_asked_to_weigh_costs_and_told_rates_and_sizes() -> None:
    """Source and sink are where Redis stands; three workers hold the eight executors, three to a host."""
    (turn,) = turns("overload-blind", 1)
    asked = describe(settings(DATA), turn, taxi_query(DATA), 100)
    assert asked.pins == {"dataSource": "host:edge-a-1", "globalRank": "host:edge-a-1"}
    assert (asked.workers, asked.strategy, asked.scheduler) == (3, "inop-search", "stormplace")
    assert asked.conf["topology.stormplace.weights"] == {"placement_cost": 0.5, "link_cost": 0.5}
    assert asked.conf["topology.stormplace.rates"] == {"dataSource": 25.0, "countByWindow": 25.0}
    assert asked.conf["topology.stormplace.origin"] == {"dataSource": "site:edge-a"}
    assert asked.conf["topology.stormplace.destination"] == {"globalRank": "site:edge-a"}
    sizes = asked.conf["topology.stormplace.tuple.bytes"]
    assert isinstance(sizes, dict)
    assert set(sizes) == set(taxi_query(DATA).components) - {"globalRank"}
    assert asked.feeding is not None
    assert asked.feeding.arguments == (
        *("rows.csv", "--fast-rows", "20", "--rate", "250.0", "--paced-rows", "150", "--together", "10"),
    )


def test_storms_own_scheduler_gets_no_key_that_it_does_not_know() -> None:
    (turn,) = turns("ras", 1)
    asked = describe(settings(DATA), turn, taxi_query(DATA), 100)
    assert (asked.pins, asked.strategy, asked.scheduler, asked.workers) == ({}, None, "ras", 3)
    assert not any(key.startswith("topology.stormplace") for key in asked.conf)
