"""The command `agent`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cli.errors import refused
from cli.metrics import LOOPBACK, MetricsHostOption, MetricsPortOption, metrics_served
from cli.zookeeper_options import ROOT, AuthFileOption, RootOption, read_zookeeper_auth
from formats.tier import TIERS


def agent(
    *,
    host: Annotated[str, typer.Option(help="Name of this host, as its supervisor calls it.")],
    zookeeper: Annotated[str, typer.Option(help="HOST:PORT of ZooKeeper; several separated by commas.")],
    site: Annotated[str | None, typer.Option(help="Name of this host's data centre.")] = None,
    tier: Annotated[str | None, typer.Option(help=f"Tier of this host: {', '.join(TIERS)}.")] = None,
    root: RootOption = ROOT,
    bind: Annotated[str, typer.Option(help="Address on which probes are answered.")] = "0.0.0.0",  # noqa: S104 - peers are on other hosts
    advertise: Annotated[
        str | None,
        typer.Option(help="Address that peers get; by default the one on the route to ZooKeeper."),
    ] = None,
    port: Annotated[int, typer.Option(help="UDP port for probes.")] = 7091,
    interval_ms: Annotated[float, typer.Option(help="Mean time between two probes, in ms.")] = 1000.0,
    state: Annotated[
        Path | None, typer.Option(help="File that keeps coordinate and availability over a restart.")
    ] = None,
    slot_ports: Annotated[
        str | None, typer.Option(help="Ports of the supervisor's worker slots, such as 6700,6701.")
    ] = None,
    bandwidth_share: Annotated[
        float | None,
        typer.Option(
            help="Share of the bandwidth to other sites that may be used to measure it; none if left out."
        ),
    ] = None,
    zookeeper_auth_file: AuthFileOption = None,
    metrics_host: MetricsHostOption = LOOPBACK,
    metrics_port: MetricsPortOption = None,
) -> None:
    """Measure the network around this supervisor host and publish it to ZooKeeper.

    Runs until SIGTERM or Ctrl-C; writes one JSON line per change of state to standard error.
    """
    # imported here: other commands must not wait for these, nor the agent's memory hold theirs
    import asyncio  # noqa: PLC0415 - see above

    from formats.log import Log  # noqa: PLC0415 - see above
    from monitoring.agent.agent import Agent  # noqa: PLC0415 - see above
    from monitoring.agent.agent_options import AgentError, AgentOptions, parse_ports  # noqa: PLC0415 - see above

    with refused(AgentError):
        ports = None if slot_ports is None else parse_ports(slot_ports)
    options = AgentOptions(
        host=host,
        zookeeper=zookeeper,
        site=site,
        tier=tier,
        root=root,
        bind=bind,
        advertise=advertise,
        port=port,
        interval_ms=interval_ms,
        state=state,
        slot_ports=ports,
        bandwidth_share=bandwidth_share,
        auth=read_zookeeper_auth(zookeeper_auth_file),
    )
    with refused(AgentError):
        options.check()
        with metrics_served(metrics_host, metrics_port) as metrics:
            log = Log(host=host)
            one = Agent(options, log)
            if metrics is not None:
                from monitoring.agent.agent_metrics import AgentMetrics  # noqa: PLC0415 - see above

                metrics.registry.register(AgentMetrics(one.figures))
                log.info("metrics-served", address=metrics.address)
            asyncio.run(one.run())
