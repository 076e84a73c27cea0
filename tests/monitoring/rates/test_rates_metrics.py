"""What the rates collector has looked at, and what it could not use, is shown as metrics."""

from __future__ import annotations

import math

import pytest
from prometheus_client import CollectorRegistry

from monitoring.rates.nimbus_faults import ReplyFault
from monitoring.rates.nimbus_statistics import StatisticsFault
from monitoring.rates.rates_figures import CollectorFigures
from monitoring.rates.rates_metrics import RatesMetrics
from monitoring.zookeeper.session_figures import SessionFigures

FIGURES = CollectorFigures(
    answered_looks=28,
    failed_looks=2,
    readings=8,
    faults={StatisticsFault.MISSING: 3},
    topology_faults={ReplyFault.REFUSED: 4},
    missing={"new-1": math.nan, "taxi-1": 1},
    age_s={"new-1": math.nan, "taxi-1": 20.0},
)


@pytest.fixture
def registry() -> CollectorRegistry:
    registry = CollectorRegistry()
    registry.register(RatesMetrics(lambda: FIGURES, lambda: SessionFigures({"lost": 1}, 5, 1.0)))
    return registry


@pytest.mark.parametrize(
    ("name", "labels", "expected"),
    [
        ("looks_total", {"outcome": "answered"}, 28),
        ("looks_total", {"outcome": "failed"}, 2),
        ("readings_total", {}, 8),
        ("faults_total", {"kind": "missing"}, 3),
        ("faults_total", {"kind": "impossible"}, 0),
        ("topology_faults_total", {"kind": "refused"}, 4),
        ("topology_faults_total", {"kind": "failed"}, 0),
        ("topologies", {}, 2),
        ("executors_missing", {"topology": "taxi-1"}, 1),
        ("reading_age_seconds", {"topology": "taxi-1"}, 20),
        ("zookeeper_changes_total", {"state": "lost"}, 1),
        ("publications_total", {}, 5),
    ],
)
def test_each_figure_has_its_metric(
    registry: CollectorRegistry, name: str, labels: dict[str, str], expected: float
) -> None:
    """One figure, one sample."""
    assert registry.get_sample_value(f"stormplace_rates_{name}", labels) == expected


@pytest.mark.parametrize("name", ["executors_missing", "reading_age_seconds"])
def test_what_is_not_known_of_a_topology_is_no_number(registry: CollectorRegistry, name: str) -> None:
    """Nothing missing and nothing known are not the same."""
    found = registry.get_sample_value(f"stormplace_rates_{name}", {"topology": "new-1"})
    assert found is not None
    assert math.isnan(found)
