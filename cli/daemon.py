"""The command `daemon`: the placement daemon beside Nimbus."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.errors import UserError
from cli.interrupt import ends_at_once

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bridge.round_callbacks import RoundCallbacks
    from bridge.settings import MetricsSettings, Settings


_CHILDREN_NICENESS = 5


def register(app: typer.Typer) -> None:
    """Add the command to the program."""

    @app.command()
    def daemon(
        config: Annotated[
            Path | None,
            typer.Option(
                help="Settings (TOML); without it every setting has its default.", show_default=False
            ),
        ] = None,
    ) -> None:
        """Answer Nimbus' shim with placements until SIGTERM or SIGINT."""
        _run(config)


def _run(config: Path | None) -> None:
    # The decision core and the Thrift code take a while to load; other commands must not wait for them.
    import signal  # noqa: PLC0415

    with ends_at_once():
        from bridge.child_process import ChildProcesses  # noqa: PLC0415
        from bridge.log import json_log  # noqa: PLC0415
        from bridge.record import RecordError, RecordWriter  # noqa: PLC0415
        from bridge.rounds import RoundHandler  # noqa: PLC0415
        from bridge.server import PlanServer, ServerError  # noqa: PLC0415

        settings = settings_of(config)
    log = json_log(settings.log.level)
    recorder = None
    # Nicer than the rounds: the answer in time comes before the better one.
    with (
        ChildProcesses(niceness=_CHILDREN_NICENESS) as children,
        _metrics(settings.metrics) as (callbacks, metrics_address),
    ):
        try:
            if settings.record.directory is not None:
                recorder = RecordWriter(
                    Path(settings.record.directory), settings.record.max_bytes, settings.record.files
                )
            handler = RoundHandler(settings, recorder, log, children, callbacks)
            server = PlanServer(settings.server, handler, log)
            host, port = server.listen()
        except (RecordError, ServerError) as error:
            raise UserError(str(error)) from error
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: server.stop())
        children.warm_up()
        typer.echo(f"stormplace daemon ready on {host}:{port}")
        log.info(
            "daemon started",
            host=host,
            port=port,
            metrics=metrics_address,
            settings_digest=settings.digest(),
        )
        server.serve()
    log.info("daemon stopped")


@contextmanager
def _metrics(settings: MetricsSettings) -> Iterator[tuple[RoundCallbacks, str | None]]:
    """Serve metrics while the block lasts, if a port is given: what feeds them, and their address."""
    # imported here: without metrics nobody needs them
    from bridge.round_callbacks import RoundCallbacks  # noqa: PLC0415 - see above

    if settings.port is None:
        yield RoundCallbacks(), None
        return
    from prometheus_client import CollectorRegistry  # noqa: PLC0415 - see above

    from bridge.metrics import DaemonMetrics  # noqa: PLC0415 - see above
    from cli.metrics_server import serving  # noqa: PLC0415 - see above

    registry = CollectorRegistry()
    metrics = DaemonMetrics(registry)
    with serving(registry, settings.host, settings.port) as address:
        yield metrics, address


def settings_of(config: Path | None) -> Settings:
    """Return the settings of a file, or the defaults.

    Raises:
        UserError: The file cannot be read or holds something else; every bad key is named.
    """
    from bridge.settings import Settings  # noqa: PLC0415  # see _run
    from bridge.settings_file import SettingsError, load_settings  # noqa: PLC0415  # see _run
    from scheduler.registry import STRATEGIES  # noqa: PLC0415  # see _run

    if config is None:
        return Settings()
    try:
        return load_settings(config, STRATEGIES)
    except SettingsError as error:
        raise UserError(str(error)) from error
