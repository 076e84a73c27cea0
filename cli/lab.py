"""Commands of the group `lab`: a Storm cluster on this machine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from cli.checkout import require_checkout
from cli.errors import refused
from cli.interrupt import INTERRUPTED_STATUS, Interrupt
from lab.errors import LabError
from lab.logs import find_logs, read_log
from lab.places import DEFAULT_FOLDER, DEMO_SITES

if TYPE_CHECKING:
    from lab.cluster import LabClient

app = typer.Typer(
    no_args_is_help=True, help="A Storm cluster on this machine, its sites apart by emulated delays."
)

Scheduler = Literal["stormplace", "even", "default", "ras"]
Site = Annotated[str, typer.Argument(metavar="SITE", help="A site.")]
SupervisorHost = Annotated[str, typer.Argument(metavar="HOST", help="A supervisor host.")]
Folder = Annotated[Path, typer.Option("--dir", help="State folder of the lab.")]


def _client(folder: Path) -> LabClient:
    """Return the lab in a folder."""
    require_checkout("lab")
    from lab.cluster import LabClient  # noqa: PLC0415 - every other command would start 0.3 s later

    return LabClient(folder)


@app.command()
@refused(LabError)
def up(
    sites: Annotated[Path, typer.Option(help="Site file (TOML).")] = DEMO_SITES,
    scheduler: Annotated[Scheduler, typer.Option(help="Scheduler that Nimbus uses.")] = "stormplace",
    folder: Folder = DEFAULT_FOLDER,
) -> None:
    """Start the cluster and wait until it is ready; Ctrl-C leaves nothing behind."""
    from cli.lab_display import UpDisplay  # noqa: PLC0415 - as in _client

    with UpDisplay() as display:
        status = _client(folder).up(sites, scheduler, display.update)
    supervisors = [host for host in status.hosts if host.kind == "supervisor"]
    slots = sum(host.slots or 0 for host in supervisors)
    typer.echo(
        f"lab is ready: {len(supervisors)} supervisors with {slots} slots, scheduler {status.scheduler}"
    )


@app.command()
@refused(LabError)
def down(folder: Folder = DEFAULT_FOLDER) -> None:
    """End the cluster and clean up what a killed one left."""
    if _client(folder).down():
        typer.echo("lab is down")
    else:
        typer.echo("nothing is running")


@app.command()
@refused(LabError)
def status(
    folder: Folder = DEFAULT_FOLDER,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead.")] = False,
) -> None:
    """Show sites, hosts and processes."""
    from cli.lab_display import show_status  # noqa: PLC0415 - as in _client

    state = _client(folder).status()
    if as_json:
        typer.echo(json.dumps(state.to_json()))
    else:
        show_status(state, folder)


# a negative number is refused as a delay, not as an option of this name
@app.command(context_settings={"ignore_unknown_options": True})
@refused(LabError)
def delay(
    site_a: Annotated[str, typer.Argument(metavar="A", help="A site.")],
    site_b: Annotated[str, typer.Argument(metavar="B", help="Another site, or the same for its own hosts.")],
    delay_ms: Annotated[float, typer.Argument(metavar="MS", help="One-way delay in ms.")],
    folder: Folder = DEFAULT_FOLDER,
) -> None:
    """Change the one-way delay between two sites while the cluster runs."""
    _client(folder).set_delay(site_a, site_b, delay_ms)
    typer.echo(f"{site_a} - {site_b}: {delay_ms:g} ms one way")


@app.command()
@refused(LabError)
def isolate(site: Site, folder: Folder = DEFAULT_FOLDER) -> None:
    """Cut a site off: no packet passes between it and the others until it rejoins."""
    _client(folder).isolate(site)
    typer.echo(f"{site}: isolated from all other sites")


@app.command()
@refused(LabError)
def rejoin(site: Site, folder: Folder = DEFAULT_FOLDER) -> None:
    """Connect an isolated site to the others again."""
    _client(folder).rejoin(site)
    typer.echo(f"{site}: not isolated")


@app.command()
@refused(LabError)
def join(host: SupervisorHost, folder: Folder = DEFAULT_FOLDER) -> None:
    """Start the supervisor and the agent of a host that is absent."""
    _client(folder).join(host)
    typer.echo(f"{host}: its supervisor starts")


@app.command()
@refused(LabError)
def leave(host: SupervisorHost, folder: Folder = DEFAULT_FOLDER) -> None:
    """Stop the supervisor and the agent of a host, and wait until Nimbus does not list it any more."""
    _client(folder).leave(host)
    typer.echo(f"{host}: absent")


@app.command()
@refused(LabError)
def logs(
    name: Annotated[str | None, typer.Argument(help="Name of a log; without it all are listed.")] = None,
    lines: Annotated[int, typer.Option(min=1, help="How many of the last lines to show.")] = 100,
    folder: Folder = DEFAULT_FOLDER,
) -> None:
    """List the logs, or show the end of one."""
    lab_folder = _client(folder).folder
    found = find_logs(lab_folder)
    if not found:
        raise LabError(f"no lab has been started in {folder}, so there are no logs")
    if name is None:
        for log, path in found.items():
            typer.echo(f"{path.stat().st_size:>10}  {log}")
    else:
        typer.echo("\n".join(read_log(lab_folder, name, lines)))


@app.command(name="exec", context_settings={"ignore_unknown_options": True})
@refused(LabError)
def execute(
    host: Annotated[str, typer.Argument(help="A host of the lab.")],
    command: Annotated[list[str], typer.Argument(help="Command and arguments, after --.")],
    folder: Folder = DEFAULT_FOLDER,
) -> None:
    """Run a command on a host of the lab."""
    client = _client(folder)
    # from before the command starts: it may be ready for Ctrl-C sooner than this process is
    with Interrupt(repeatedly=True) as interrupt:
        code = client.exec(host, command).wait()
    if code == 1 and interrupt.happened:
        # also when SIGINT has ended it, which those around it cannot pass on
        code = INTERRUPTED_STATUS
    raise typer.Exit(code if code >= 0 else 128 - code)


@app.command()
@refused(LabError)
def scheduler(
    name: Annotated[Scheduler, typer.Argument(help="Scheduler that Nimbus uses from now on.")],
    folder: Folder = DEFAULT_FOLDER,
) -> None:
    """Restart Nimbus with another scheduler and wait until it leads."""
    from cli.lab_display import UpDisplay  # noqa: PLC0415 - as in _client

    with UpDisplay() as display:
        _client(folder).use_scheduler(name, display.update)
    typer.echo(f"scheduler is {name}")
