"""A real ZooKeeper for tests, in a process of its own."""

from __future__ import annotations

import shutil
import socket
import subprocess
from pathlib import Path

from kazoo.client import KazooClient

ROOT = Path(__file__).resolve().parents[2]
STORM_LIB = ROOT / "build/storm/apache-storm-2.8.3/lib"
PATIENCE_S = 60.0  # for a machine that is busy with other things; no test expects to wait that long


def free_port(kind: socket.SocketKind) -> int:
    with socket.socket(socket.AF_INET, kind) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class ZooKeeperServer:
    """Storm's own ZooKeeper in a process of its own, with short session time-outs (at most 4 s)."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.port = free_port(socket.SOCK_STREAM)
        self.address = f"127.0.0.1:{self.port}"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        assert STORM_LIB.is_dir(), f"{STORM_LIB} is missing: make setup assembles it"
        data = self._folder / "data"
        data.mkdir(parents=True, exist_ok=True)
        config = self._folder / "zoo.cfg"
        config.write_text(
            f"dataDir={data}\nclientPort={self.port}\nclientPortAddress=127.0.0.1\ntickTime=200\n"
            "admin.enableServer=false\nmaxClientCnxns=0\n"
        )
        main = "org.apache.storm.shade.org.apache.zookeeper.server.ZooKeeperServerMain"
        with (self._folder / "zookeeper.log").open("ab") as out:
            self._process = subprocess.Popen(
                [
                    "java",
                    "-Xmx96m",
                    "-XX:+UseSerialGC",
                    "-XX:TieredStopAtLevel=1",
                    "-cp",
                    f"{STORM_LIB}/*",
                    main,
                    str(config),
                ],
                stdout=out,
                stderr=out,
            )
        client = self.client()
        client.stop()
        client.close()

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def wipe(self) -> None:
        shutil.rmtree(self._folder / "data")

    def client(self) -> KazooClient:
        client = KazooClient(self.address, timeout=4.0, connection_retry={"max_tries": -1, "max_delay": 0.5})
        client.start(timeout=PATIENCE_S)
        return client
