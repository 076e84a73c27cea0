"""The command `plan`: what would move, why, at what price, and what staying is worth."""

from __future__ import annotations

import json
import sys
from typing import Annotated, Any

import typer

from cli.errors import UserError, refused
from cli.interrupt import ends_at_once

PREFIX = "topology.stormplace."
_PATIENCE_MS = 30_000


def plan(
    topology: Annotated[str, typer.Argument(help="Name or id of the topology.")],
    *,
    daemon: Annotated[str, typer.Option(help="HOST:PORT of the daemon.")] = "127.0.0.1:7090",
    strategy: Annotated[str | None, typer.Option(help="As if the topology asked for this strategy.")] = None,
    what_if: Annotated[
        str | None,
        typer.Option(
            metavar="JSON",
            help="As if the topology had these settings: a JSON object of keys below topology.stormplace., "
            'with or without that prefix, such as \'{"pin": {"report": "site:rome"}}\'.',
        ),
    ] = None,
    drain: Annotated[
        list[str] | None, typer.Option(help="As if host:NAME or site:NAME were drained; may be repeated.")
    ] = None,
    cluster: Annotated[
        str | None, typer.Option(help="Which cluster, if the daemon plans for several; it names them.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Look at what a plan would do to a topology that is on the cluster; nothing is moved.

    Exit status: 0 shown, 2 bad input, or the daemon does not answer or knows no such topology.
    """
    settings = _settings(strategy, what_if)
    with ends_at_once():
        answer = _asked(daemon, topology, cluster, settings, drain or [])
        if as_json:
            json.dump(answer, sys.stdout, indent=1, allow_nan=False)
            sys.stdout.write("\n")
            return
        from cli.plan.plan_output import print_preview  # noqa: PLC0415 - loads rich

        print_preview(answer)


def _settings(strategy: str | None, what_if: str | None) -> dict[str, object]:
    settings: dict[str, object] = {}
    if what_if is not None:
        with refused(ValueError, RecursionError, by="--what-if: is no JSON"):
            found = json.loads(what_if)
        if not isinstance(found, dict):
            raise UserError('--what-if: is no JSON object such as {"pin": {"report": "site:rome"}}')
        settings = {f"{PREFIX}{key.removeprefix(PREFIX)}": value for key, value in found.items()}
    if strategy is not None:
        from scheduler.registry import STRATEGIES  # noqa: PLC0415 - loads numpy

        if strategy not in STRATEGIES:
            raise UserError(f"--strategy {strategy}: must be one of {', '.join(sorted(STRATEGIES))}")
        settings[f"{PREFIX}strategy"] = strategy
    return settings


def _asked(
    daemon: str, topology: str, cluster: str | None, settings: dict[str, object], drains: list[str]
) -> dict[str, Any]:
    from thriftpy2.rpc import make_client  # noqa: PLC0415 - other commands must not wait for Thrift
    from thriftpy2.thrift import TException  # noqa: PLC0415 - see above
    from thriftpy2.transport import TFramedTransportFactory  # noqa: PLC0415 - see above

    from bridge.wire.contract import VERSION, idl  # noqa: PLC0415 - see above
    from bridge.wire.encoding import PROTOCOL_FACTORY  # noqa: PLC0415 - see above
    from formats.address import Address  # noqa: PLC0415 - see above

    with refused(ValueError, by="--daemon"):
        address = Address.parse(daemon)
    request = idl.PreviewRequest(
        version=VERSION,
        topology=topology,
        cluster=cluster,
        settings_json=json.dumps(settings) if settings else None,
        drains=drains,
    )
    try:
        client = make_client(
            idl.PreviewDaemon,
            address.host,
            address.port,
            proto_factory=PROTOCOL_FACTORY,
            trans_factory=TFramedTransportFactory(),
            timeout=_PATIENCE_MS,
        )
        try:
            answer: dict[str, Any] = json.loads(client.preview(request).answer_json)
        finally:
            client.close()
    except idl.Refused as error:
        raise UserError(str(error.reason)) from error
    except (TException, OSError) as error:
        reason = getattr(error, "message", None) or str(error) or type(error).__name__
        raise UserError(f"the daemon at {daemon} does not answer: {reason}") from error
    return answer
