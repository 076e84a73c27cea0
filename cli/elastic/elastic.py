"""The command `elastic`: executors and hosts follow the load."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from cli.errors import refused
from cli.interrupt import ends_at_once
from cli.metrics import metrics_served
from cli.native_output import native_output_hidden
from cli.zookeeper_options import read_zookeeper_auth


def elastic(
    config: Annotated[Path, typer.Option(help="Settings (TOML).")],
    *,
    status: Annotated[
        bool, typer.Option("--status", help="Print how the running loop stands, and end.")
    ] = False,
) -> None:
    """Scale topologies and the hosts that they run on, or say what would be done, until SIGTERM or Ctrl-C.

    Writes one JSON line per step and per change of state to standard error.
    """
    with ends_at_once():
        from provisioning.settings_file import ElasticSettingsError, load_elastic_settings  # noqa: PLC0415

        with refused(ElasticSettingsError):
            settings = load_elastic_settings(config)
        from cli.elastic.composing import composed, status_file  # noqa: PLC0415
        from formats.log import Log  # noqa: PLC0415
        from provisioning.providers.provider import ProviderError  # noqa: PLC0415
        from provisioning.run import run_until_asked  # noqa: PLC0415
        from provisioning.status import StatusError, sentences  # noqa: PLC0415

        if status:
            with refused(StatusError, status=1):
                for line in sentences(status_file(settings).read(), time.time()):
                    typer.echo(line)
            return
        log = Log()
        auth = read_zookeeper_auth(
            None if settings.zookeeper_auth_file is None else Path(settings.zookeeper_auth_file)
        )
    with metrics_served(settings.metrics.host, settings.metrics.port) as metrics:
        with ends_at_once(), refused(ValueError, ProviderError, OSError, by=str(config)):
            rounds, receiver, lock = composed(settings, log, auth, metrics)
        if metrics is not None:
            log.info("metrics-served", address=metrics.address)
        with lock:
            receiver.start()
            typer.echo(f"stormplace elastic ready, reporters are listened to at {settings.graphite}")
            with native_output_hidden():
                run_until_asked(rounds, settings.interval_s)
            receiver.stop()
            log.info("elastic-stopped")
