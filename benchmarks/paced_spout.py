"""A spout of a known rate, in Storm's multilang protocol: what rates are measured against.

The component's rate in tuples per second is in the topology's configuration, under `paced.rates`. It counts
by its own clock: what is late is made up for, so the mean rate holds whatever the machine does besides.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

_BATCH = 500
_PAUSE_S = 0.002


def _read() -> Any:
    lines: list[str] = []
    for line in sys.stdin:
        if line.strip() == "end":
            return json.loads("".join(lines))
        lines.append(line)
    raise SystemExit(0)


def _send(*messages: dict[str, Any]) -> None:
    sys.stdout.write("".join(f"{json.dumps(message)}\nend\n" for message in messages))
    sys.stdout.flush()


def main() -> None:
    """Answer Storm's commands until it goes away."""
    handshake = _read()
    (Path(handshake["pidDir"]) / str(os.getpid())).touch()
    _send({"pid": os.getpid()})
    context = handshake["context"]
    component = context["task->component"][str(context["taskid"])]
    rate = handshake["conf"]["paced.rates"][component]
    started_s: float | None = None
    sent = 0
    while True:
        command = _read()["command"]
        tuples: list[dict[str, Any]] = []
        if command == "next":
            started_s = started_s or time.monotonic()
            due = int((time.monotonic() - started_s) * rate) - sent
            if due == 0:
                time.sleep(_PAUSE_S)
            for _ in range(min(due, _BATCH)):
                sent += 1
                tuples.append({"command": "emit", "id": sent, "tuple": [sent], "need_task_ids": False})
        _send(*tuples, {"command": "sync"})


if __name__ == "__main__":
    main()
