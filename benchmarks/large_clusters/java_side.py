"""The JVM that builds clusters and runs schedulers on them."""

from __future__ import annotations

import json
import subprocess
import tempfile
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from experiments.machine import PROJECT

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence
    from pathlib import Path

JVM_FLAGS = ("-Xms3g", "-Xmx3g", "-XX:+UseG1GC")
"""The same for all schedulers, as they run in one process."""
_MAIN = "io.stormplace.largeclusters.LargeClusters"


@dataclass(frozen=True)
class Spec:
    """What is to be measured; Spec.java says what each key means.

    Attributes:
        cluster: `recorded-01`, or the parameters of a made cluster.
        name: Name of the cluster.
        schedulers: Names; none: the cluster is only written.
        nimbus: Keys of Nimbus' configuration.
        daemon_pid: Process id of the daemon, 0 if none runs.
        repeats: Runs of each scheduler.
        most_rounds: Rounds until everything is placed, at most.
        pause_ms: Between two of these; Nimbus' own is 10 s.
        unchanged_rounds: Rounds in which nothing changed.
        unchanged_pause_ms: After each of these, where a daemon takes part.
        losses: Whether the cluster loses executors and a host afterwards.
        missing_topologies: Topologies that lose one executor each.
        missing_executors: Executors that one topology loses.
        seed: Of what is drawn.
    """

    cluster: str | Mapping[str, int]
    name: str
    schedulers: Sequence[str] = ()
    nimbus: Mapping[str, object] | None = None
    daemon_pid: int = 0
    repeats: int = 1
    most_rounds: int = 3
    pause_ms: int = 10_000
    unchanged_rounds: int = 3
    unchanged_pause_ms: int = 1_000
    losses: bool = True
    missing_topologies: int = 40
    missing_executors: int = 10
    seed: int = 1


class OverdueError(RuntimeError):
    """A round of a scheduler took too long.

    Attributes:
        scheduler: Name of the scheduler.
    """

    def __init__(self, scheduler: str) -> None:
        super().__init__(scheduler)
        self.scheduler = scheduler


def class_path() -> str:
    """Compile the Java side and return its class path."""
    with tempfile.NamedTemporaryFile() as file:
        maven = ["mvn", "-q", "-B", "-f", "pom.xml", "-pl", "java-shim", "test-compile", "exec:exec"]
        maven += ["-Dexec.executable=echo", "-Dexec.args=%classpath", "-Dexec.classpathScope=test"]
        # on standard output Maven would mix it with colours
        maven += [f"-Dexec.outputFile={file.name}"]
        done = subprocess.run(maven, cwd=PROJECT, capture_output=True, text=True, check=False)
        classes = file.read().decode().strip()
    if done.returncode != 0 or not classes:
        raise SystemExit(f"the Java side cannot be built:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return classes


def run(
    classes: str, spec: Spec, folder: Path, limit_s: float | None = None
) -> Generator[dict[str, Any], None, None]:
    """Run the Java side; it is ended by its handle when the generator is closed.

    Args:
        classes: The class path.
        spec: What is to be measured.
        folder: Where it writes the cluster and the assignments.
        limit_s: Longest that a round and the pause after it may take; None: as long as it takes.

    Yields:
        The figures of each run.

    Raises:
        OverdueError: A round took longer.
        SystemExit: The Java side failed, with the end of its log.
    """
    file, log = folder / "spec.json", folder / "java.log"
    document = {**vars(spec), "nimbus": spec.nimbus or {}, "folder": str(folder)}
    file.write_text(json.dumps(document), encoding="utf-8")
    command = ["java", *JVM_FLAGS, "-cp", classes, _MAIN, str(file)]
    at_work = ""
    with log.open("wb") as errors:
        java = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)
        watch = _Watch(java, limit_s)
        try:
            for line in java.stdout or ():
                # libraries write to standard output too
                if not line.startswith("{"):
                    continue
                figures = json.loads(line)
                if "round_of" in figures:
                    at_work = figures["round_of"]
                    watch.begin()
                else:
                    watch.end()
                    yield figures
            status = java.wait()
        finally:
            watch.end()
            java.kill()
            java.communicate()
    if watch.barked:
        raise OverdueError(at_work)
    if status != 0:
        tail = log.read_text(encoding="utf-8", errors="replace")[-2000:]
        raise SystemExit(f"the Java side ended with status {status}:\n{tail}")


class _Watch:
    """Kills a process some time after it began something, unless that is at its end before.

    Attributes:
        barked: Whether it did.
    """

    def __init__(self, process: subprocess.Popen[str], limit_s: float | None) -> None:
        self._process = process
        self._limit_s = limit_s
        self._timer: threading.Timer | None = None
        self.barked = False

    def begin(self) -> None:
        self.end()
        if self._limit_s is not None:
            self._timer = threading.Timer(self._limit_s, self._bark)
            self._timer.daemon = True
            self._timer.start()

    def end(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _bark(self) -> None:
        self.barked = True
        self._process.kill()
