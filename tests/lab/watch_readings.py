"""Prints what agents publish: all readings as one line of JSON, host -> reading, after every change.

`python tests/lab/watch_readings.py HOST:PORT` runs on a host of a lab until it is ended.
"""

from __future__ import annotations

import json
import queue
import sys
from functools import partial
from typing import Any

from kazoo.client import KazooClient

from formats.packed_content import unpack

FOLDER = "/stormplace/nodes"


def main() -> None:
    """Watch until the process is ended."""
    changes: queue.SimpleQueue[tuple[str, bytes | None]] = queue.SimpleQueue()
    watched: set[str] = set()
    client = KazooClient(hosts=sys.argv[1])

    def changed(host: str, data: bytes | None, _stat: Any) -> None:
        changes.put((host, data))

    def listed(hosts: list[str]) -> None:
        for host in set(hosts) - watched:
            watched.add(host)
            # goes on over the end of the reading and its return
            client.DataWatch(f"{FOLDER}/{host}", partial(changed, host))

    client.start()
    client.ChildrenWatch(FOLDER, listed)
    readings: dict[str, Any] = {}
    while True:
        host, data = changes.get()
        if data is None:
            readings.pop(host, None)
        else:
            readings[host] = json.loads(unpack(data))
        print(json.dumps(readings), flush=True)


if __name__ == "__main__":
    main()
