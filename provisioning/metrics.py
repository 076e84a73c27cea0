"""The loop's metrics: what rounds came to since the process began, and what the last ones knew."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, get_args

from prometheus_client import Histogram
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from provisioning.loop.report import HeldBy
from provisioning.loop.step import StepKind
from scheduler.elasticity.leasing.decision import Verdict
from scheduler.elasticity.leasing.host import HostStatus

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from prometheus_client import CollectorRegistry
    from prometheus_client.metrics_core import Metric

    from provisioning.loop.report import Asked, Report
    from provisioning.providers.provider import HostOffer

_BEFORE = "stormplace_elastic"
_ROUND_BUCKETS_S = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
_OUTCOMES = ("decided", "unchanged", "limited", "held", "failed", "nimbus_silent")
_CHANGES = ("executor_started", "executor_stopped", "host_leased", "host_released")
# family -> what it counts, its label, and all values of that
_COUNTED: Mapping[str, tuple[str, str, tuple[str, ...]]] = {
    "rounds": ("Rounds, by outcome.", "outcome", _OUTCOMES),
    "rounds_held": ("Rounds in which nothing was decided, by why.", "reason", get_args(HeldBy)),
    "decided": ("What decisions change; advice changes nothing.", "change", _CHANGES),
    "reasons": ("Reasons of decisions, each counted in every round.", "verdict", get_args(Verdict)),
    "steps": ("Steps that were taken, or failed.", "step", get_args(StepKind)),
}
_OF_MODE = ("mode",)
_OF_COMPONENT = ("mode", "topology", "component")
# family -> what it is, and its labels
_GAUGES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "last_round_timestamp_seconds": ("Unix time of the last round.", _OF_MODE),
    "missing": ("Things that are not known or wrong in the last round.", _OF_MODE),
    "hosts": ("Hosts when a policy was last asked, by status.", ("mode", "status")),
    "hosts_wanted": ("Hosts that the policy wants.", _OF_MODE),
    "hosts_leased": ("Hosts that are leased.", _OF_MODE),
    "cost_per_hour": ("What these cost, in the currency of the offers.", _OF_MODE),
    "executors": ("Executors that have a slot.", _OF_COMPONENT),
    "executors_wanted": ("Executors that the policy wants.", _OF_COMPONENT),
    "demand_items_per_second": ("Items that come, or would if nothing before held any up.", _OF_COMPONENT),
    "waiting_items": ("Items that wait, at the source or before the component.", _OF_COMPONENT),
    "service_seconds": ("For so long an item occupies an executor.", _OF_COMPONENT),
    "reading_age_seconds": ("How old demand and waiting items are.", _OF_COMPONENT),
    "advice_saved_cost": ("What advice would have saved, in the currency of the offers.", _OF_MODE),
    "advice_saved_host_seconds": ("Hosts times seconds that advice would have saved.", _OF_MODE),
    "advice_late_ratio": ("Items that would have come late under advice.", _OF_MODE),
}


@dataclass
class _Mode:
    """What is known of the loop of a mode; only the loop's thread writes.

    Attributes:
        counts: By family and value of its label; no key is ever added, so that a scrape may read meanwhile.
        report: The last one.
        asked: The last one in which a policy was asked.
    """

    counts: dict[tuple[str, str], int] = field(
        default_factory=lambda: {
            (name, value): 0 for name, (_, _, values) in _COUNTED.items() for value in values
        }
    )
    report: Report | None = None
    asked: Report | None = None

    def count(self, family: str, value: str, by: int = 1) -> None:
        self.counts[family, value] += by


class ElasticMetrics(Collector):
    """Takes rounds, and gives what is known at each scrape.

    Args:
        registry: Where the metrics are to be found.
        offers: Of the provider, for what leases cost.
        modes: Of the loops.
        unix_time: Seconds since 1970.
    """

    def __init__(
        self,
        registry: CollectorRegistry,
        offers: Sequence[HostOffer],
        modes: Iterable[str],
        unix_time: Callable[[], float] = time.time,
    ) -> None:
        self._unix_time = unix_time
        self._per_hour = {each.name: each.unit_cost * 3600.0 / each.billing_unit_s for each in offers}
        self._modes = {mode: _Mode() for mode in modes}
        self._round_s = Histogram(
            f"{_BEFORE}_round_duration_seconds",
            "Time that a round of all modes took.",
            buckets=_ROUND_BUCKETS_S,
            registry=registry,
        )
        registry.register(self)

    def on_report(self, mode: str, report: Report) -> None:
        """Count a round, and keep what it knew."""
        one, decision = self._modes[mode], report.decision
        one.count("rounds", _outcome(report))
        if report.held_by is not None:
            one.count("rounds_held", report.held_by)
        for step in report.steps:
            one.count("steps", step.kind)
        if decision is not None and not report.in_vain:
            for reason in decision.reasons:
                one.count("reasons", reason.verdict)
            parts = (decision.starts, decision.stops, decision.leases, decision.releases)
            for change, each in zip(_CHANGES, parts, strict=True):
                one.count("decided", change, len(each))
        one.report = report
        if report.asked is not None:
            one.asked = report

    def on_failure(self, mode: str, *, nimbus: bool = False) -> None:
        """Count a round of which nothing came."""
        self._modes[mode].count("rounds", "nimbus_silent" if nimbus else "failed")

    def on_end(self, round_s: float) -> None:
        """Take for how long a round of all modes took, s."""
        self._round_s.observe(round_s)

    def collect(self) -> Iterator[Metric]:
        """Give all metrics but the histogram (called by the library)."""
        for name, (text, label, values) in _COUNTED.items():
            family = CounterMetricFamily(f"{_BEFORE}_{name}", text, labels=["mode", label])
            for mode, one in self._modes.items():
                for value in values:
                    family.add_metric([mode, value.replace("-", "_")], one.counts[name, value])
            yield family
        gauges = _Gauges()
        for mode, one in self._modes.items():
            if one.report is not None:
                self._of_report(gauges, mode, one.report)
            if one.asked is not None and one.asked.asked is not None:
                self._of_asked(gauges, mode, one.asked, one.asked.asked)
        yield from gauges.families.values()

    def _of_report(self, gauges: _Gauges, mode: str, report: Report) -> None:
        gauges.add("last_round_timestamp_seconds", report.now_s, mode)
        gauges.add("missing", len(report.faults), mode)
        for name, count in report.running.items():
            gauges.add("executors", count, mode, *_topology_and_component(name))
        if report.leases is not None:
            live = [each for each in report.leases if each.live]
            gauges.add("hosts_leased", len(live), mode)
            if all(each.offer in self._per_hour for each in live):
                gauges.add("cost_per_hour", sum(self._per_hour[each.offer] for each in live), mode)

    def _of_asked(self, gauges: _Gauges, mode: str, report: Report, asked: Asked) -> None:
        hosts, decision, savings = asked.observation.hosts, report.decision, report.savings
        statuses = Counter(each.status for each in hosts)
        for status in get_args(HostStatus):
            gauges.add("hosts", statuses[status], mode, status)
        counts = Counter[str]()
        for each in hosts:
            counts.update(each.executors)
        if decision is not None:
            counts.update(each.component for each in decision.starts)
            counts.subtract(each.component for each in decision.stops)
            wanted = len(hosts) - statuses["leaving"] + len(decision.leases) - len(decision.releases)
            gauges.add("hosts_wanted", wanted, mode)
        for one in asked.parameters.components:
            gauges.add("executors_wanted", counts[one.name], mode, *_topology_and_component(one.name))
        since_s = max(0.0, self._unix_time() - report.now_s)
        for reading in asked.observation.readings:
            labels = (mode, *_topology_and_component(reading.component))
            if reading.demand_per_s is not None:
                gauges.add("demand_items_per_second", reading.demand_per_s, *labels)
            if reading.service_ms is not None:
                gauges.add("service_seconds", reading.service_ms / 1000.0, *labels)
            gauges.add("waiting_items", reading.waiting, *labels)
            gauges.add("reading_age_seconds", reading.age_s + since_s, *labels)
        if savings is not None:
            gauges.add("advice_saved_cost", savings.real_cost - savings.cost, mode)
            gauges.add("advice_saved_host_seconds", savings.real_host_s - savings.host_s, mode)
            gauges.add("advice_late_ratio", savings.late_share, mode)


class _Gauges:
    """Families of gauges, which get their samples one by one."""

    def __init__(self) -> None:
        self.families = {
            name: GaugeMetricFamily(f"{_BEFORE}_{name}", text, labels=labels)
            for name, (text, labels) in _GAUGES.items()
        }

    def add(self, name: str, value: float, *labels: str) -> None:
        self.families[name].add_metric(labels, value)


def _outcome(report: Report) -> str:
    if report.decision is None:
        return "held"
    if report.limited:
        return "limited"
    return "decided" if report.decision.changes_something else "unchanged"


def _topology_and_component(name: str) -> tuple[str, str]:
    topology, _, component = name.partition("/")
    return topology, component
