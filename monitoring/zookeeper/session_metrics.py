"""The metrics of a session with ZooKeeper, for agent and collector alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

from monitoring.zookeeper.session import STATES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from prometheus_client.metrics_core import Metric

    from monitoring.zookeeper.session_figures import SessionFigures


def session_metrics(before: str, now: SessionFigures) -> Iterator[Metric]:
    """Give the metrics of a session with ZooKeeper.

    Args:
        before: Beginning of their names.
        now: What it has counted.
    """
    yield by_label(
        f"{before}_zookeeper_changes",
        "Changes of the session with ZooKeeper, by the state that began.",
        "state",
        STATES,
        now.changes,
    )
    yield CounterMetricFamily(f"{before}_publications", "Contents that ZooKeeper took.", now.writes)
    yield GaugeMetricFamily(
        f"{before}_publication_age_seconds",
        "Time since ZooKeeper took the last content; NaN before the first.",
        now.written_age_s,
    )


def by_label(
    name: str, text: str, label: str, values: Iterable[str], counts: Mapping[str, int]
) -> CounterMetricFamily:
    """Return a counter with a label of which every value is there, most often with 0."""
    family = CounterMetricFamily(name, text, labels=[label])
    for value in values:
        family.add_metric([value], counts.get(value, 0))
    return family
