"""A real ZooKeeper for benchmarks, as Storm's distribution brings it along."""

from __future__ import annotations

import contextlib
import socket
import subprocess
from typing import TYPE_CHECKING

import psutil
from kazoo.client import KazooClient

from experiments.machine import PROJECT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_LIB = PROJECT / "build/storm/apache-storm-2.8.3/lib"
_MAIN = "org.apache.storm.shade.org.apache.zookeeper.server.ZooKeeperServerMain"
_PATIENCE_S = 60


@contextlib.contextmanager
def zookeeper_server(folder: Path) -> Iterator[tuple[str, psutil.Process]]:
    """Run a server on a free loopback port, with its default session time-outs; it answers `srvr` and `cons`.

    Yields:
        Its address and its process.
    """
    if not _LIB.is_dir():
        raise SystemExit(f"{_LIB} is missing: make setup assembles it")
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = int(probe.getsockname()[1])
    config = folder / "zoo.cfg"
    config.write_text(
        f"dataDir={folder}/data\nclientPort={port}\nclientPortAddress=127.0.0.1\ntickTime=2000\n"
        "admin.enableServer=false\nmaxClientCnxns=0\n4lw.commands.whitelist=srvr,cons\n",
        encoding="utf-8",
    )
    command = ["java", "-Xmx512m", "-cp", f"{_LIB}/*", _MAIN, str(config)]
    with (folder / "zookeeper.log").open("wb") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        client = KazooClient(f"127.0.0.1:{port}", connection_retry={"max_tries": -1, "max_delay": 0.5})
        client.start(timeout=_PATIENCE_S)
        client.stop()
        client.close()
        yield f"127.0.0.1:{port}", psutil.Process(server.pid)
    finally:
        server.kill()
        server.wait()
