"""Metrics as commands offer them: off unless a port is given."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prometheus_client import CollectorRegistry

LOOPBACK = "127.0.0.1"
MetricsHostOption = Annotated[str, typer.Option(help="Address on which metrics can be scraped.")]
MetricsPortOption = Annotated[
    int | None, typer.Option(help="TCP port for metrics (Prometheus); without it there are none.")
]


@dataclass(frozen=True, slots=True)
class Metrics:
    """What a process puts its metrics into, and where they can be scraped, `HOST:PORT`."""

    registry: CollectorRegistry
    address: str


@contextmanager
def metrics_served(host: str, port: int | None) -> Iterator[Metrics | None]:
    """Serve the metrics of this process while the block lasts; None if no port is given.

    Args:
        host: Address to listen on.
        port: TCP port; 0 takes a free one.

    Raises:
        UserError: Nothing can be served there.
    """
    if port is None:
        yield None
        return
    # imported here: without metrics no memory must be spent on them
    from prometheus_client import CollectorRegistry  # noqa: PLC0415 - see above

    from cli.metrics_server import serving  # noqa: PLC0415 - see above

    registry = CollectorRegistry()
    with serving(registry, host, port) as address:
        yield Metrics(registry, address)
