"""Configuration by which workers report what their tasks do, as `stormplace elastic` wants to know it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from formats.address import Address

_EVERY_MS = 500
"""Pauses are known to the time between two reports, and those of the lab take a few seconds."""
_READ = ".*-(receive-queue-(population|overflow)|__(execute|emit)-count-.*|__(execute|process)-latency-.*)"
"""What the loop reads, as its guide has it: a tenth of the lines."""


def reporting_to(graphite: Address) -> dict[str, object]:
    """Return topology configuration: Storm's own reporter, twice a second.

    Args:
        graphite: Where to, by number: reporters do not know the lab's names.
    """
    return {
        "topology.metrics.reporters": [
            {
                "class": "org.apache.storm.metrics2.reporters.GraphiteStormReporter",
                "report.period": _EVERY_MS,
                "report.period.units": "MILLISECONDS",
                "graphite.host": graphite.host,
                "graphite.port": graphite.port,
                "graphite.transport": "tcp",
                "filter": {
                    "class": "org.apache.storm.metrics2.filters.RegexFilter",
                    "expression": _READ,
                },
            }
        ]
    }
