"""Takes what Storm's Graphite reporter sends from the workers: one line of text per value, over TCP.

Workers send every few seconds (`report.period`), where Nimbus has statistics once a minute and no queues.
The reporter comes with Storm, so that nothing has to be installed on the workers.
"""

from __future__ import annotations

import math
import re
import socketserver
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from formats.address import Address

_LINE_BYTES = 4096
"""A longer line is none of Storm's."""
_SILENCE_S = 120.0
"""A connection that says nothing for so long is closed; the reporter opens another one."""
_NAME = re.compile(
    r"storm\.worker\.(?P<topology>\S+?-\d+-\d{9,})\.(?P<place>\S+)\.(?P<task>\d+)\.(?P<port>\d+)-(?P<metric>\S+)"
)


@dataclass(frozen=True)
class MetricLine:
    """A value of a task.

    Attributes:
        topology_id: Nimbus' id of the topology.
        task: The task; numbers are unique within the topology.
        metric: Its name, such as `receive-queue-population`.
        value: Its value.
    """

    topology_id: str
    task: int
    metric: str
    value: float


def parsed(line: str) -> MetricLine | None:
    """Return what a line says of a task; None if it is no such line, as those of whole workers."""
    name, _, rest = line.partition(" ")
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    try:
        value = float(rest.split(" ")[0])
    except ValueError:
        return None
    if not math.isfinite(value):
        return None
    return MetricLine(found["topology"], int(found["task"]), found["metric"], value)


class GraphiteReceiver:
    """Listens for reporters.

    Args:
        address: Where; port 0 takes a free one.
        take: Is called with each line of a task, from several threads.

    Raises:
        OSError: The address cannot be listened on.
    """

    def __init__(self, address: Address, take: Callable[[MetricLine], None]) -> None:
        class Handler(socketserver.StreamRequestHandler):
            timeout = _SILENCE_S

            def handle(self) -> None:
                try:
                    while line := self.rfile.readline(_LINE_BYTES):
                        found = parsed(line.decode("ascii", errors="replace").strip())
                        if found is not None:
                            take(found)
                except OSError:
                    return  # the worker has gone, or said nothing for long

        self._server = _Server((address.host, address.port), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, name="graphite", daemon=True)

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self._server.server_address[1])

    def start(self) -> None:
        """Begin to serve."""
        self._thread.start()

    def stop(self) -> None:
        """End; connections end with their threads."""
        self._server.shutdown()
        self._server.server_close()


class _Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    # else its end would wait for every worker to go
    block_on_close = False
