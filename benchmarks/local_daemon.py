"""The placement daemon on a free loopback port, for as long as a benchmark needs it."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from experiments.machine import PROJECT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_PATIENCE_S = 30


@dataclass(frozen=True)
class LocalDaemon:
    """A daemon that answers.

    Attributes:
        port: TCP port on 127.0.0.1.
        pid: Process id.
    """

    port: int
    pid: int


@contextlib.contextmanager
def local_daemon(folder: Path, settings: str = "") -> Iterator[LocalDaemon]:
    """Run the daemon; it is ended by its handle when the block is left, however that is.

    Args:
        folder: Where its settings and its log are written.
        settings: TOML without a table `server`; every other setting has its default.

    Raises:
        SystemExit: The settings hold a table `server`, or the daemon does not start.
    """
    if "server" in tomllib.loads(settings):
        raise SystemExit("the daemon's settings may hold no table server: its address is the benchmark's")
    config, log = folder / "daemon.toml", folder / "daemon.log"
    config.write_text(f'{settings}\n[server]\nhost = "127.0.0.1"\nport = 0\n', encoding="utf-8")
    command = [sys.executable, "-m", "cli.main", "daemon", "--config", str(config)]
    with log.open("wb") as stream:
        process = subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.PIPE, stderr=stream, text=True)
        try:
            ready = process.stdout.readline() if process.stdout else ""
            if not ready:
                tail = log.read_text(encoding="utf-8")[-2000:]
                raise SystemExit(f"the daemon did not start:\n{tail}")
            yield LocalDaemon(port=int(ready.rsplit(":", 1)[1]), pid=process.pid)
        finally:
            process.terminate()
            try:
                process.communicate(timeout=_PATIENCE_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
