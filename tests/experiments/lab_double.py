"""A lab that is a double: notes what is asked of it, and runs shell lines for the query's commands."""

from __future__ import annotations

import subprocess
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from lab.errors import LabError, NoLabError

if TYPE_CHECKING:
    from pathlib import Path


class Lab:
    """Notes what is asked of it; a command of the query does what `acts` says, or nothing.

    Attributes:
        state: As `status` has it; `absent` before `up`, after `down`, and when a test says so.
        groups: Group of commands of each command.
        lacks: What keeps the lab from being ready, or empty.
        ends: How often each process ended unexpectedly.
        ups, downs: How often a lab was started, and how often one that ran was ended.
        tied: Whether the lab was to end with its starter.
    """

    def __init__(self, folder: Path, acts: dict[str, Any]) -> None:
        self.folder = SimpleNamespace(records=folder / "records", logs=folder / "logs")
        self.scheduler = ""
        self.commands: list[list[str]] = []
        self.groups: list[str] = []
        self.processes: list[subprocess.Popen[Any]] = []
        self.changes: list[tuple[Any, ...]] = []
        self.ups = self.downs = 0
        self.tied = False
        self.state = "absent"
        self.lacks = ""
        self.ends: dict[str, int] = {}
        self._acts = acts

    def up(self, _sites: Path, scheduler: str, _progress: Any, *, tied: bool) -> None:
        self._act("up")
        if self.state != "absent":
            raise LabError("a lab is already running")
        self.ups += 1
        self.tied = tied
        self.scheduler = scheduler
        self.state = "ready"

    def down(self) -> bool:
        if self.state == "absent":
            return False
        self.downs += 1
        self.state = "absent"
        return True

    def status(self) -> Any:
        services = [SimpleNamespace(name=name, unexpected_ends=count) for name, count in self.ends.items()]
        return SimpleNamespace(scheduler=self.scheduler, state=self.state, services=services)

    def await_ready(self, _limit_s: float) -> None:
        self._act("await_ready")
        if self.state == "absent":
            raise NoLabError(f"the lab has ended: {self.keepers_last_words()}")
        if self.lacks:
            raise LabError(f"not ready, missing: {self.lacks}")

    def keepers_last_words(self) -> str:
        return "the anchor was killed (see keeper.log)"

    def use_scheduler(self, name: str) -> None:
        self.scheduler = name

    def set_delay(self, one: str, other: str, ms: float) -> None:
        self._change("delay", one, other, ms)

    def isolate(self, site: str) -> None:
        self._change("isolate", site)

    def rejoin(self, site: str) -> None:
        self._change("rejoin", site)

    def join(self, host: str) -> None:
        self._change("join", host)

    def leave(self, host: str) -> None:
        self._change("leave", host)

    def _change(self, *change: Any) -> None:
        self._there()
        self._act(*change)
        self.changes.append(change)

    def _act(self, *what: Any) -> None:
        act = self._acts.get(what[0])
        if act is not None:
            act(what)

    def _there(self) -> None:
        if self.state == "absent":
            raise NoLabError("no lab is running; `stormplace lab up` starts one")

    def exec(self, _host: str, argv: list[str], **popen: Any) -> Any:
        self._there()
        group, *command = argv[argv.index("cli.main") + 1 :] if "cli.main" in argv else argv
        self.groups.append(group)
        self.commands.append(command)
        act = self._acts.get(command[0])
        line = act(command) if act is not None else None
        if command[0] == "placement" and line is None:
            line = """echo '{"id": "taxi-1", "executors": []}'"""
        self.processes.append(subprocess.Popen(["sh", "-c", line or "exit 0"], **popen))
        return self.processes[-1]

    def asked(self, name: str) -> list[list[str]]:
        return [command for command in self.commands if command[0] == name]
