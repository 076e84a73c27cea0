"""The rates collector's metrics, read from its counts at each scrape."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from monitoring.rates.nimbus_faults import ReplyFault
from monitoring.rates.nimbus_statistics import StatisticsFault
from monitoring.zookeeper.session_metrics import by_label, session_metrics

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from prometheus_client.metrics_core import Metric

    from monitoring.rates.rates_figures import CollectorFigures
    from monitoring.zookeeper.session_figures import SessionFigures


class RatesMetrics(Collector):
    """Gives a rates collector's figures in the library's terms.

    Args:
        figures: Gives them; called from the thread of a scrape.
        session: Gives those of its session with ZooKeeper; likewise.
    """

    def __init__(
        self, figures: Callable[[], CollectorFigures], session: Callable[[], SessionFigures]
    ) -> None:
        self._figures = figures
        self._session = session

    def collect(self) -> Iterator[Metric]:
        """Give all metrics (called by the library)."""
        now = self._figures()
        before = "stormplace_rates"
        looks = {"answered": now.answered_looks, "failed": now.failed_looks}
        yield by_label(f"{before}_looks", "Looks at Nimbus' statistics, by outcome.", "outcome", looks, looks)
        yield CounterMetricFamily(f"{before}_readings", "Readings handed over to be published.", now.readings)
        yield by_label(
            f"{before}_faults",
            "Executors with unusable statistics, each counted in every look, by kind of fault.",
            "kind",
            StatisticsFault,
            now.faults,
        )
        yield by_label(
            f"{before}_topology_faults",
            "Looks at one topology that brought nothing while Nimbus answered, by kind of fault.",
            "kind",
            ReplyFault,
            now.topology_faults,
        )
        yield GaugeMetricFamily(f"{before}_topologies", "Topologies that are followed.", len(now.missing))
        missing = GaugeMetricFamily(
            f"{before}_executors_missing",
            "Executors and idle components without statistics in the last look; NaN if none has any.",
            labels=["topology"],
        )
        age = GaugeMetricFamily(
            f"{before}_reading_age_seconds",
            "Time since the topology's last reading; NaN before the first.",
            labels=["topology"],
        )
        for topology, count in sorted(now.missing.items()):
            missing.add_metric([topology], count)
            age.add_metric([topology], now.age_s[topology])
        yield missing
        yield age
        yield from session_metrics(before, self._session())
