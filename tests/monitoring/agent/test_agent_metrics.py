"""An agent's counts are shown as metrics, the unknown ones as NaN."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from prometheus_client import CollectorRegistry

from monitoring.agent.agent_figures import AgentFigures
from monitoring.agent.agent_metrics import AgentMetrics
from monitoring.agent.bandwidth.bandwidth_meter import TrainEnd
from monitoring.agent.bandwidth.trains import TrainFigures
from monitoring.agent.probe import Refusal
from monitoring.zookeeper.session import STATES
from monitoring.zookeeper.session_figures import SessionFigures

AT_START = AgentFigures(
    sent=0,
    returned=0,
    lost=0,
    answered=0,
    refusals={},
    sent_bytes=0,
    error=1.5,
    peers=0,
    silent_peers=0,
    unreadable={"peer": 0, "partners": 0},
    session=SessionFigures({}, 0, math.nan),
)


def asked(figures: AgentFigures) -> CollectorRegistry:
    registry = CollectorRegistry()
    registry.register(AgentMetrics(lambda: figures))
    return registry


def value(registry: CollectorRegistry, name: str, **labels: str) -> float:
    found = registry.get_sample_value(f"stormplace_agent_{name}", labels)
    assert found is not None, (name, labels)
    return found


def test_at_the_start_every_count_is_there_and_no_age_is_known() -> None:
    """A first fault is an increase."""
    registry = asked(AT_START)
    assert {value(registry, "datagrams_refused_total", reason=reason) for reason in Refusal} == {0}
    assert {value(registry, "trains_ended_total", end=end) for end in TrainEnd} == {0}
    assert {value(registry, "zookeeper_changes_total", state=state) for state in STATES} == {0}
    assert value(registry, "coordinate_error_ratio") == 1.5
    assert math.isnan(value(registry, "publication_age_seconds"))


@pytest.mark.parametrize(
    ("change", "name", "labels", "expected"),
    [
        ({"sent": 9}, "probes_sent_total", {}, 9),
        ({"returned": 7}, "probes_ended_total", {"end": "answered"}, 7),
        ({"lost": 2}, "probes_ended_total", {"end": "lost"}, 2),
        ({"answered": 5}, "probes_answered_total", {}, 5),
        ({"sent_bytes": 720}, "probe_sent_bytes_total", {}, 720),
        ({"refusals": {"impossible": 3}}, "datagrams_refused_total", {"reason": "impossible"}, 3),
        ({"error": 0.04}, "coordinate_error_ratio", {}, 0.04),
        ({"peers": 31}, "peers", {}, 31),
        ({"silent_peers": 1}, "silent_peers", {}, 1),
        ({"unreadable": {"peer": 2}}, "readings_unreadable_total", {"reading": "peer"}, 2),
        (
            {"session": SessionFigures({"suspended": 4}, 0, math.nan)},
            "zookeeper_changes_total",
            {"state": "suspended"},
            4,
        ),
        ({"session": SessionFigures({}, 60, 2.5)}, "publications_total", {}, 60),
        ({"trains": TrainFigures({"counted": 8})}, "trains_ended_total", {"end": "counted"}, 8),
        ({"trains": TrainFigures(sent_bytes=12_500)}, "train_sent_bytes_total", {}, 12_500),
        ({"trains": TrainFigures(answered=4)}, "trains_answered_total", {}, 4),
        ({"session": SessionFigures({}, 60, 2.5)}, "publication_age_seconds", {}, 2.5),
    ],
)
def test_each_figure_has_its_metric(
    change: dict[str, object], name: str, labels: dict[str, str], expected: float
) -> None:
    """One figure, one sample."""
    assert value(asked(replace(AT_START, **change)), name, **labels) == expected  # type: ignore[arg-type]
