"""A lab that is a double: notes what is asked of it, and runs shell lines for the query's commands."""

from __future__ import annotations

import subprocess
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path


class Lab:
    """Notes what is asked of it; a command of the query does what `acts` says, or nothing."""

    def __init__(self, folder: Path, acts: dict[str, Any]) -> None:
        self.folder = SimpleNamespace(records=folder / "records")
        self.scheduler = ""
        self.commands: list[list[str]] = []
        self.processes: list[subprocess.Popen[Any]] = []
        self.changes: list[tuple[Any, ...]] = []
        self.ups = self.downs = 0
        self._acts = acts

    def up(self, _sites: Path, scheduler: str, _progress: Any) -> None:
        self.ups += 1
        self.scheduler = scheduler

    def down(self) -> None:
        self.downs += 1

    def status(self) -> Any:
        return SimpleNamespace(scheduler=self.scheduler, state="ready")

    def use_scheduler(self, name: str) -> None:
        self.scheduler = name

    def set_delay(self, one: str, other: str, ms: float) -> None:
        self._change("delay", one, other, ms)

    def isolate(self, site: str) -> None:
        self._change("isolate", site)

    def rejoin(self, site: str) -> None:
        self._change("rejoin", site)

    def _change(self, *change: Any) -> None:
        act = self._acts.get(change[0])
        if act is not None:
            act(change)
        self.changes.append(change)

    def exec(self, _host: str, argv: list[str], **popen: Any) -> Any:
        command = argv[argv.index("taxi") + 1 :]
        self.commands.append(command)
        act = self._acts.get(command[0])
        line = act(command) if act is not None else None
        if command[0] == "placement" and line is None:
            line = """echo '{"id": "taxi-1", "executors": []}'"""
        self.processes.append(subprocess.Popen(["sh", "-c", line or "exit 0"], **popen))
        return self.processes[-1]

    def asked(self, name: str) -> list[list[str]]:
        return [command for command in self.commands if command[0] == name]
