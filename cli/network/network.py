"""The command `network`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.daemon import settings_of
from cli.errors import UserError
from cli.interrupt import ends_at_once
from cli.zookeeper_options import ROOT, AuthFileOption, RootOption, read_zookeeper_auth

if TYPE_CHECKING:
    from cli.network.network_input import Snapshot


def network(
    *,
    zookeeper: Annotated[
        str | None, typer.Option(help="HOST:PORT of ZooKeeper; several separated by commas.")
    ] = None,
    root: RootOption = ROOT,
    zookeeper_auth_file: AuthFileOption = None,
    nimbus: Annotated[
        str | None,
        typer.Option(
            help="HOST:PORT of Nimbus' Thrift service: shows which supervisors have no agent, and leaves "
            "agents without supervisor aside."
        ),
    ] = None,
    readings: Annotated[
        Path | None,
        typer.Option(
            help="Instead of --zookeeper: readings as JSON (a list, or the output of --json), or the "
            "daemon's record of rounds (file or folder), of which the last round counts."
        ),
    ] = None,
    config: Annotated[
        Path | None, typer.Option(help="The daemon's settings (TOML): which delays are believed.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="PNG to write: a map of the hosts.")] = None,
    show_all: Annotated[bool, typer.Option("--all", help="Show every host and site.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Show what the agents know of the network: delays between sites, hosts, and what is wrong.

    Exit status: 0 shown, 2 bad input or no connection, 3 no reading, 130 ended by Ctrl-C.
    """
    if (zookeeper is None) == (readings is None):
        raise UserError("exactly one of --zookeeper and --readings is needed")
    if readings is not None and nimbus is not None:
        raise UserError("--nimbus: --readings is of another time than what Nimbus would answer")
    if plot is not None and not plot.parent.is_dir():
        raise UserError(f"--plot {plot}: there is no such folder")
    if plot is not None and plot.is_dir():
        raise UserError(f"--plot {plot}: is a folder")
    # loads numpy and Thrift; and nothing is held here that would have to be released
    with ends_at_once():
        from bridge.network.geography import survey  # noqa: PLC0415 - other commands must not wait for these
        from bridge.settings import Settings  # noqa: PLC0415 - see above
        from cli.network.network_input import read_snapshot  # noqa: PLC0415 - see above
        from cli.network.network_output import document, print_geography  # noqa: PLC0415 - see above

        if plot is not None:
            from experiments.reports.network_map import draw_network  # noqa: PLC0415 - loads matplotlib

        given = None if config is None else settings_of(config)
        if readings is not None:
            snapshot = read_snapshot(readings)
        else:
            assert zookeeper is not None  # noqa: S101 - follows from the check above
            snapshot = live_snapshot(zookeeper, root, zookeeper_auth_file, nimbus)
        geography = survey(
            snapshot.request,
            given or snapshot.settings or Settings(),
            supervisors_known=snapshot.supervisors_known,
        )
        if as_json:
            json.dump(document(geography, snapshot), sys.stdout, indent=1, allow_nan=False)
            sys.stdout.write("\n")
        else:
            print_geography(geography, snapshot, show_all=show_all)
    if plot is not None:
        draw_network(plot, geography, snapshot.origin)


def live_snapshot(zookeeper: str, root: str, auth_file: Path | None, nimbus: str | None) -> Snapshot:
    """Ask ZooKeeper for readings and, if it is given, Nimbus for supervisors.

    Raises:
        UserError: An option is no address or path, or one of them cannot be asked.
    """
    from cli.network.network_input import snapshot_of  # noqa: PLC0415 - see network
    from cli.network.network_live import check_addresses, read_live, supervisor_hosts  # noqa: PLC0415 - see network

    check_addresses(zookeeper, root, nimbus)
    readings, drains = read_live(zookeeper, root, read_zookeeper_auth(auth_file))
    supervisors = None if nimbus is None else supervisor_hosts(nimbus)
    return snapshot_of(readings, supervisors, f"ZooKeeper {zookeeper}, {root}", drains=drains)
