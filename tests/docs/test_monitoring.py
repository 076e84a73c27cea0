"""docs/monitoring.md names every metric that there is, and no other."""

from __future__ import annotations

import math
import re
from pathlib import Path

from prometheus_client import CollectorRegistry

from bridge.server.metrics import DaemonMetrics
from monitoring.agent.agent_figures import AgentFigures
from monitoring.agent.agent_metrics import AgentMetrics
from monitoring.rates.rates_figures import CollectorFigures
from monitoring.rates.rates_metrics import RatesMetrics
from monitoring.zookeeper.session_figures import SessionFigures
from provisioning.metrics import ElasticMetrics

GUIDE = (Path(__file__).parents[2] / "docs" / "monitoring.md").read_text()


def test_the_guide_and_the_processes_name_the_same_metrics():
    """A row may name several: the first in full, the others by their end."""
    session = SessionFigures({}, 0, math.nan)
    registry = CollectorRegistry()
    DaemonMetrics(registry)
    registry.register(AgentMetrics(lambda: AgentFigures(0, 0, 0, 0, {}, 0, 1.5, 0, 0, {}, session)))
    registry.register(RatesMetrics(lambda: CollectorFigures(0, 0, 0, {}, {}, {}, {}), lambda: session))
    ElasticMetrics(registry, (), ("active", "advise"))
    served = {
        f"{family.name}_total" if family.type == "counter" else family.name for family in registry.collect()
    }
    stated = set()
    for row in re.findall(r"^\| (`stormplace_[^|]+) \|", GUIDE, flags=re.MULTILINE):
        first, *others = re.findall(r"`([a-z_]+)`", row)
        process = "_".join(first.split("_")[:2])
        stated |= {first, *(process + end for end in others)}
    assert stated == served
