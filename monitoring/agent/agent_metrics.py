"""The agent's metrics, read from its counts at each scrape."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from monitoring.agent.bandwidth.bandwidth_meter import TrainEnd
from monitoring.agent.probe import Refusal
from monitoring.zookeeper.session_metrics import by_label, session_metrics

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from prometheus_client.metrics_core import Metric

    from monitoring.agent.agent_figures import AgentFigures


class AgentMetrics(Collector):
    """Gives an agent's figures in the library's terms.

    Args:
        figures: Gives them; called from the thread of a scrape.
    """

    def __init__(self, figures: Callable[[], AgentFigures]) -> None:
        self._figures = figures

    def collect(self) -> Iterator[Metric]:
        """Give all metrics (called by the library)."""
        now = self._figures()
        before = "stormplace_agent"
        ends = {"answered": now.returned, "lost": now.lost}
        yield CounterMetricFamily(f"{before}_probes_sent", "Probes sent to peers.", now.sent)
        yield by_label(f"{before}_probes_ended", "Own probes by how they ended.", "end", ends, ends)
        yield CounterMetricFamily(
            f"{before}_probes_answered", "Probes of other agents that were answered.", now.answered
        )
        yield by_label(
            f"{before}_datagrams_refused", "Datagrams refused, by reason.", "reason", Refusal, now.refusals
        )
        yield CounterMetricFamily(
            f"{before}_probe_sent_bytes", "Payload of probes and answers sent.", now.sent_bytes
        )
        trains = now.trains
        yield by_label(
            f"{before}_trains_ended", "Own trains of packets by how they ended.", "end", TrainEnd, trains.ends
        )
        yield CounterMetricFamily(
            f"{before}_train_sent_bytes",
            "Own trains with IP headers, and the answers to them.",
            trains.sent_bytes,
        )
        yield CounterMetricFamily(
            f"{before}_trains_answered", "Trains of other agents that were answered.", trains.answered
        )
        yield GaugeMetricFamily(
            f"{before}_coordinate_error_ratio",
            "Relative error that the host estimates of its coordinate; 1.5 = nothing measured yet.",
            now.error,
        )
        yield GaugeMetricFamily(f"{before}_peers", "Other hosts that publish a reading.", now.peers)
        yield GaugeMetricFamily(
            f"{before}_silent_peers", "Peers that leave probes without an answer.", now.silent_peers
        )
        yield by_label(
            f"{before}_readings_unreadable",
            "Looks at other hosts' readings, or at the partners, that could not be read.",
            "reading",
            now.unreadable,
            now.unreadable,
        )
        yield from session_metrics(before, now.session)
