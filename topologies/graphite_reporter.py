"""Configuration by which workers report what their tasks do, as `stormplace elastic` wants to know it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from formats.address import Address

_EVERY_S = 2


def reporting_to(graphite: Address) -> dict[str, object]:
    """Return topology configuration: Storm's own reporter, every two seconds.

    Args:
        graphite: Where to, by number: reporters do not know the lab's names.
    """
    return {
        "topology.metrics.reporters": [
            {
                "class": "org.apache.storm.metrics2.reporters.GraphiteStormReporter",
                "report.period": _EVERY_S,
                "report.period.units": "SECONDS",
                "graphite.host": graphite.host,
                "graphite.port": graphite.port,
                "graphite.transport": "tcp",
            }
        ]
    }
