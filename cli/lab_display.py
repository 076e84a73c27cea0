"""How the commands of the group `lab` show a lab."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Table

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

    from lab.status import LabStatus


class UpDisplay:
    """Bars on standard error that fill while a lab starts; they appear with the first news of it."""

    def __init__(self) -> None:
        console = Console(stderr=True)
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._supervisors = self._progress.add_task("supervisors", total=None)
        self._agents = self._progress.add_task("agents", total=None)
        self._waiting = self._progress.add_task("starting", total=None)

    def __enter__(self) -> Self:
        """Return the display."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Take the bars away."""
        self._progress.stop()

    def update(self, status: LabStatus) -> None:
        """Show a new state of things."""
        self._progress.start()
        supervisors = [host for host in status.hosts if host.kind == "supervisor"]
        if supervisors:
            known = sum(host.slots is not None for host in supervisors)
            publishing = sum(host.agent for host in supervisors)
            self._progress.update(self._supervisors, total=len(supervisors), completed=known)
            self._progress.update(self._agents, total=len(supervisors), completed=publishing)
        running = sum(service.state == "running" for service in status.services)
        missing = ", ".join(item for item in status.pending if "(" not in item)
        self._progress.update(
            self._waiting,
            description=f"waiting for {missing}" if missing else "processes",
            total=len(status.services) or None,
            completed=running,
        )


def show_status(status: LabStatus, folder: Path) -> None:
    """Print a lab's state, hosts, delays and whatever does not run as it should."""
    console = Console(highlight=False)
    if status.state == "absent":
        console.print("nothing is running")
        return
    console.print(f"lab in {folder}: {status.state}, scheduler {status.scheduler}", soft_wrap=True)
    for item in status.pending:
        console.print(f"  waiting for {item}")
    for site in status.isolated:
        console.print(f"{site}: isolated from all other sites")
    hosts = Table("host", "site", "address", "slots used", "agent", box=None)
    for host in status.hosts:
        slots = "-" if host.slots is None else f"{host.used_slots} of {host.slots}"
        agent = "" if host.kind == "services" else "publishing" if host.agent else "silent"
        agent = "absent" if host.name in status.absent and not host.agent else agent
        hosts.add_row(host.name, host.site, host.address, slots if host.kind == "supervisor" else "", agent)
    console.print(hosts)
    delays = Table("between", "", "one way (ms)", box=None)
    for a, b, delay_ms in status.delays_ms:
        delays.add_row(a, b, f"{delay_ms:g}")
    console.print(delays)
    for service in status.services:
        if service.state != "running" or service.unexpected_ends:
            end = f", last with {service.last_end}" if service.last_end else ""
            console.print(
                f"{service.name}: {service.state}, ended unexpectedly {service.unexpected_ends} times{end}"
            )
    if status.packets:
        console.print("packets: " + ", ".join(f"{fate} {count}" for fate, count in status.packets))
    for name, size, dropped in status.links:
        lost = f", {dropped} packets dropped" if dropped else ""
        console.print(f"{name}: {size / 1e6:,.2f} MB{lost}")
