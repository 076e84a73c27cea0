"""Measures the processor time of this host's Storm workers, each with all processes that it started.

A component in another process is started as its command and then its script, once for each task: so the last
argument of a child says whose it is.
"""

from __future__ import annotations

import asyncio
import os
from collections import Counter, deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from formats.script_key import script_key
from monitoring.reading import WorkerCpu
from monitoring.steady import SteadyFigures

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

LOOK_S = 20.0
"""Time between two looks at all processes of the host: what an agent costs is mostly this."""
_WINDOW = 4
# Looks after which a worker is measured: the window then leaves out its start, which costs more than work.
_LOOKS = 6
_CHILDREN = 64
"""Scripts of a worker that are followed at most: what a component starts by the thousand is none."""
_MAIN = b"org.apache.storm.daemon.worker.Worker"
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class _Process:
    """One process as the kernel shows it: parent, name, ticks of processor time, time of its start."""

    parent: int
    name: str
    ticks: int
    started: int


@dataclass
class _Worker:
    """One worker as it was followed so far.

    Attributes:
        topology: Id of its topology.
        port: Port of its slot.
        ticks: Ticks of its processes at the last look, by process id and start.
        spent: Ticks since the first look.
        window: (time of a look, ticks spent by then), the latest ones.
        looks: Number of looks.
        children: Ticks of what it started and still runs, since first seen, by script.
    """

    topology: str
    port: int
    ticks: dict[tuple[int, int], int] = field(default_factory=dict)
    spent: int = 0
    window: deque[tuple[float, int]] = field(default_factory=lambda: deque(maxlen=_WINDOW))
    looks: int = 0
    children: Counter[str] = field(default_factory=Counter)

    def look(
        self, now_s: float, ticks: dict[tuple[int, int], int], scripts: Mapping[tuple[int, int], str]
    ) -> None:
        """Take what its processes have used; those that ended in between take their last ticks along.

        Args:
            now_s: Time of the look, s.
            ticks: Ticks of its processes, by process id and start.
            scripts: Whose process it is, likewise, as `script_key` has it; the worker's own are not in it.
        """
        self.spent += sum(used - self.ticks.get(process, 0) for process, used in ticks.items())
        children = Counter({script: self.children[script] for script in scripts.values()})
        for process, script in scripts.items():
            # what it used before it was first seen was its start
            children[script] += ticks[process] - self.ticks.get(process, ticks[process])
        self.children = Counter(dict(children.most_common(_CHILDREN)))
        self.ticks = ticks
        self.window.append((now_s, self.spent))
        self.looks += 1

    def percent(self) -> float | None:
        """Percent of one core over the window, None while it is too young."""
        (began_s, before), (now_s, after) = self.window[0], self.window[-1]
        if self.looks < _LOOKS or now_s <= began_s:
            return None
        return max(after - before, 0) / _TICKS_PER_S / (now_s - began_s) * 100.0


class WorkerMeter:
    """Looks at all processes now and then; what it gives is the mean over the last three times between looks.

    A look runs in a thread: with thousands of processes it takes a tenth of a second, and answers that the
    event loop reads that late would look like long delays.

    Args:
        proc: Directory in the form of Linux' /proc; without one no workers are known.

    Attributes:
        found: The workers that are old enough to be measured, by port.
    """

    def __init__(self, proc: Path = Path("/proc")) -> None:
        self._proc = proc
        self._workers: dict[str, _Worker] = {}
        self._steady = SteadyFigures[str]()
        self._under_way: asyncio.Future[None] | None = None
        self.found: tuple[WorkerCpu, ...] = ()

    def look_soon(self, now_s: float) -> None:
        """Begin to look, unless the last look is still under way; needs a running event loop.

        Args:
            now_s: Time of a clock that does not go back, s.
        """
        if self._under_way is not None:
            if not self._under_way.done():
                return
            self._under_way.result()  # raises what went wrong
        self._under_way = asyncio.get_running_loop().run_in_executor(None, self.look, now_s)

    def look(self, now_s: float) -> None:
        """Look at all processes; blocks while it reads them.

        Args:
            now_s: Time of a clock that does not go back, s.
        """
        self._follow(now_s)
        measured = {
            name: percent
            for name, worker in self._workers.items()
            if (percent := worker.percent()) is not None
        }
        found = (
            WorkerCpu(
                self._workers[name].port,
                self._workers[name].topology,
                percent,
                {script: used / _TICKS_PER_S for script, used in self._workers[name].children.items()},
            )
            for name, percent in self._steady.hold(measured).items()
        )
        self.found = tuple(sorted(found, key=lambda each: each.port))

    def _follow(self, now_s: float) -> None:
        processes = dict(self._processes())
        named = {
            pid: found
            for pid, process in processes.items()
            if process.name == "java" and (found := self._worker(pid)) is not None
        }
        ticks: dict[str, dict[tuple[int, int], int]] = {}
        scripts: dict[str, dict[tuple[int, int], str]] = {}
        script_of: dict[int, str] = {}
        for pid, process in processes.items():
            name, child = _worker_of(pid, processes, named)
            if name is None:
                continue
            ticks.setdefault(name, {})[pid, process.started] = process.ticks
            of_worker = scripts.setdefault(name, {})
            if child is not None:
                if child not in script_of:
                    script_of[child] = self._script_of(child)
                if script_of[child]:
                    of_worker[pid, process.started] = script_of[child]
        known = {name: _Worker(topology, port) for name, topology, port in named.values()} | self._workers
        self._workers = {name: known[name] for name in ticks}
        for name, worker in self._workers.items():
            worker.look(now_s, ticks[name], scripts[name])

    def _processes(self) -> Iterator[tuple[int, _Process]]:
        for folder in self._proc.iterdir() if self._proc.is_dir() else ():
            if not folder.name.isdecimal():
                continue
            try:
                with open(f"{folder}/stat", "rb") as file:  # noqa: PTH123 - twice as fast as Path
                    text = file.read().decode(errors="replace")
            except OSError:  # it has ended
                continue
            # The name may hold blanks and brackets of its own.
            name, _, rest = text.partition("(")[2].rpartition(")")
            fields = rest.split()
            yield (
                int(folder.name),
                _Process(int(fields[1]), name, int(fields[11]) + int(fields[12]), int(fields[19])),
            )

    def _worker(self, pid: int) -> tuple[str, str, int] | None:
        """Return id, topology and port of a worker of this host; None if a process is none.

        The process that writes a worker's log has the worker's command line as its arguments, and starts it.
        """
        folder = self._proc / str(pid)
        try:
            arguments = (folder / "cmdline").read_bytes().rstrip(b"\0").split(b"\0")
            if _MAIN not in arguments or not self._is_here(folder):
                return None
        except OSError:  # it has ended
            return None
        # topology, supervisor, port of the supervisor (not before Storm 2), port, id
        own = [each.decode(errors="replace") for each in arguments[arguments.index(_MAIN) + 1 :]]
        if len(own) < 4 or not own[-2].isdecimal():
            return None
        return own[-1], own[0], int(own[-2])

    def _script_of(self, pid: int) -> str:
        """Return what stands for the last argument of a process' command; empty if there is none."""
        try:
            _, *arguments = (self._proc / str(pid) / "cmdline").read_bytes().rstrip(b"\0").split(b"\0")
        except OSError:  # it has ended
            return ""
        return script_key(arguments[-1].decode(errors="replace")) if arguments else ""

    def _is_here(self, folder: Path) -> bool:
        """Whether a process is in the agent's network namespace: the same port elsewhere is another slot."""
        try:
            return (folder / "ns/net").readlink() == (self._proc / "self/ns/net").readlink()
        except PermissionError:
            # Of another user: only hosts that share a kernel, as in the lab, could be confused.
            return True


def _worker_of(
    pid: int, processes: Mapping[int, _Process], named: Mapping[int, tuple[str, str, int]]
) -> tuple[str | None, int | None]:
    """Return the id of the worker that a process belongs to, and which child of the worker it is or is below.

    A worker's own processes are no children.
    """
    child = None
    # An id that was given anew between two files that were read could make a circle.
    for _ in range(len(processes)):
        if pid in named or pid not in processes:
            break
        child, pid = pid, processes[pid].parent
    return (named[pid][0], child) if pid in named else (None, None)
