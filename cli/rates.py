"""The command `rates`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.errors import refused
from cli.metrics import LOOPBACK, MetricsHostOption, MetricsPortOption, metrics_served
from cli.zookeeper_options import ROOT, AuthFileOption, RootOption, read_zookeeper_auth

if TYPE_CHECKING:
    from collections.abc import Callable

    from cli.metrics import Metrics
    from monitoring.rates.rates_figures import CollectorFigures
    from monitoring.zookeeper.session_figures import SessionFigures


def rates(
    *,
    nimbus: Annotated[
        str, typer.Option(help="HOST:PORT of Nimbus' Thrift service; several separated by commas.")
    ],
    zookeeper: Annotated[str, typer.Option(help="HOST:PORT of ZooKeeper; several separated by commas.")],
    root: RootOption = ROOT,
    interval_s: Annotated[float, typer.Option(help="Time between two looks at Nimbus, in s.")] = 10.0,
    window_s: Annotated[float, typer.Option(help="Time over which rates are taken, in s.")] = 60.0,
    state: Annotated[
        Path | None,
        typer.Option(
            help="File that keeps what is usual at each hour of the week; without it none is known."
        ),
    ] = None,
    zookeeper_auth_file: AuthFileOption = None,
    metrics_host: MetricsHostOption = LOOPBACK,
    metrics_port: MetricsPortOption = None,
) -> None:
    """Derive the rates of all topologies from Nimbus' statistics and publish them to ZooKeeper.

    Runs until SIGTERM or Ctrl-C; writes one JSON line per change of state to standard error.
    """
    # imported here: other commands must not wait for these
    from formats.log import Log  # noqa: PLC0415 - see above
    from monitoring.rates.collector import run  # noqa: PLC0415 - see above
    from monitoring.rates.rates_options import CollectorError, CollectorOptions  # noqa: PLC0415 - see above

    options = CollectorOptions(
        nimbus=nimbus,
        zookeeper=zookeeper,
        root=root,
        interval_s=interval_s,
        window_s=window_s,
        auth=read_zookeeper_auth(zookeeper_auth_file),
        state=state,
    )
    with refused(CollectorError):
        options.check()
        with metrics_served(metrics_host, metrics_port) as metrics:
            log = Log(host="rates")
            if metrics is not None:
                log.info("metrics-served", address=metrics.address)
            run(options, log, lambda *figures: _register(metrics, *figures))


def _register(
    metrics: Metrics | None, figures: Callable[[], CollectorFigures], session: Callable[[], SessionFigures]
) -> None:
    if metrics is not None:
        from monitoring.rates.rates_metrics import RatesMetrics  # noqa: PLC0415 - see above

        metrics.registry.register(RatesMetrics(figures, session))
