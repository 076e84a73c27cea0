"""The command `daemon`: the placement daemon beside Nimbus."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.errors import refused
from cli.interrupt import ends_at_once
from cli.metrics import metrics_served

if TYPE_CHECKING:
    from bridge.server.callbacks import RoundCallbacks
    from bridge.settings import Settings
    from cli.metrics import Metrics


_CHILDREN_NICENESS = 5
# New objects between two looks for unreachable cycles. A request of thousands of topologies becomes some
# hundred thousand objects, none of them in a cycle: with Python's 700, half of reading it goes into looking.
_OBJECTS_BETWEEN_COLLECTIONS = 200_000


def daemon(
    config: Annotated[
        Path | None,
        typer.Option(help="Settings (TOML); without it every setting has its default.", show_default=False),
    ] = None,
) -> None:
    """Answer Nimbus' shim with placements until SIGTERM or SIGINT; SIGHUP reads the settings again."""
    # The decision core and the Thrift code take a while to load; other commands must not wait for them.
    import gc  # noqa: PLC0415
    import signal  # noqa: PLC0415

    with ends_at_once():
        from bridge.children.processes import ChildProcesses  # noqa: PLC0415
        from bridge.record.record import RecordError, RecordWriter  # noqa: PLC0415
        from bridge.server.handler import RoundHandler  # noqa: PLC0415
        from bridge.server.plan_server import PlanServer, ServerError  # noqa: PLC0415
        from bridge.server.reloading import Reloading, log_doubts  # noqa: PLC0415
        from formats.log import Log  # noqa: PLC0415

        settings = settings_of(config)
    log = Log(settings.log.level)
    recorder = None
    # Nicer than the rounds: the answer in time comes before the better one.
    with (
        ChildProcesses(niceness=_CHILDREN_NICENESS) as children,
        metrics_served(settings.metrics.host, settings.metrics.port) as metrics,
    ):
        with refused(RecordError, ServerError):
            if settings.record.directory is not None:
                recorder = RecordWriter(
                    Path(settings.record.directory), settings.record.max_bytes, settings.record.files
                )
            handler = RoundHandler(settings, recorder, log, children, _callbacks(metrics))
            server = PlanServer(settings.server, handler, log)
            host, port = server.listen()
        reloading = Reloading(None if config is None else partial(_load, config), handler, log)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: server.stop())
        signal.signal(signal.SIGHUP, lambda *_: reloading.ask())
        children.warm_up()
        gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
        typer.echo(f"stormplace daemon ready on {host}:{port}")
        log.info(
            "daemon started",
            host=host,
            port=port,
            metrics=None if metrics is None else metrics.address,
            settings_digest=settings.digest(),
        )
        log_doubts(settings, log)
        server.serve()
        reloading.close()
        handler.close()
    log.info("daemon stopped")


def _callbacks(metrics: Metrics | None) -> RoundCallbacks | None:
    if metrics is None:
        return None
    from bridge.server.metrics import DaemonMetrics  # noqa: PLC0415  # see daemon

    return DaemonMetrics(metrics.registry)


def settings_of(config: Path | None) -> Settings:
    """Return the settings of a file, or the defaults.

    Raises:
        UserError: The file cannot be read or holds something else; every bad key is named.
    """
    from bridge.settings import Settings  # noqa: PLC0415  # see daemon
    from bridge.settings_file import SettingsError  # noqa: PLC0415  # see daemon

    if config is None:
        return Settings()
    with refused(SettingsError):
        return _load(config)


def _load(config: Path) -> Settings:
    from bridge.settings_file import load_settings  # noqa: PLC0415  # see daemon
    from scheduler.registry import STRATEGIES  # noqa: PLC0415  # see daemon

    return load_settings(config, STRATEGIES)
