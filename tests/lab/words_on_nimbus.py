"""Submits a topology of 40 executors and says what the leading Nimbus knows of it; runs on a host of the lab.

    python -m tests.lab.words_on_nimbus HOST ...

Each line on standard input, `submit` or `look`, is answered by one line of JSON. Nothing is configured: the
topology has Storm's defaults.
"""

from __future__ import annotations

import json
import sys
import tempfile
import zipfile
from itertools import pairwise
from pathlib import Path
from typing import Any

from streamparse.thrift import (
    Bolt,
    ComponentCommon,
    ComponentObject,
    GlobalStreamId,
    Grouping,
    JavaObject,
    Nimbus,
    NullStruct,
    SpoutSpec,
    StormTopology,
    StreamInfo,
)

from formats.address import Address
from formats.nimbus import NimbusError, connect
from lab.layout import NIMBUS_PORT
from topologies import nimbus

NAME = "words"
CHAIN = {"words": 10, "counts": 15, "totals": 13, "report": 1}
"""Executors of each component; each but the first reads the one before. Storm adds an acker."""
_TIMEOUT_S = 10.0


def answer(request: str, hosts: list[str]) -> dict[str, Any]:
    """Return what the leader says, or the fault."""
    try:
        seeds = [Address(host, NIMBUS_PORT) for host in hosts]
        with connect(seeds, timeout_s=_TIMEOUT_S, service=Nimbus) as client:
            if request == "submit":
                submit(client)
            return {"leader": client.getLeader().host, **look(client)}
    except NimbusError as error:
        return {"error": str(error)}


def look(client: Any) -> dict[str, Any]:
    """Return the topology's state; copies are the Nimbus hosts that have its code and configuration."""
    topology_id = nimbus.placement(client, NAME).id
    info = client.getTopologyInfo(topology_id)
    blobs = (f"{topology_id}-storm{part}" for part in ("jar.jar", "code.ser", "conf.ser"))
    return {
        "id": topology_id,
        "status": info.status,
        "scheduler_status": info.sched_status or "",
        "copies": min(client.getBlobReplication(blob) for blob in blobs),
        "executors": [
            {
                "task": one.executor_info.task_start,
                "component": one.component_id,
                "slot": (one.host, one.port),
                "uptime_s": one.uptime_secs,
            }
            for one in info.executors
        ],
    }


def submit(client: Any) -> None:
    """Start the topology of Storm's own test components."""
    names = list(CHAIN)
    bolts = {name: _bolt(name, before) for before, name in pairwise(names)}
    spouts = {names[0]: SpoutSpec(_java("TestWordSpout"), _common(names[0], "word", {}))}
    with tempfile.TemporaryDirectory() as folder:
        jar = Path(folder) / "words.jar"
        with zipfile.ZipFile(jar, "w") as file:
            file.writestr("resources/empty", "")
        nimbus.submit(client, NAME, jar, {}, StormTopology(spouts, bolts, {}))


def _bolt(name: str, before: str) -> Any:
    inputs = {GlobalStreamId(before, "default"): Grouping(shuffle=NullStruct())}
    return Bolt(_java("TestGlobalCount"), _common(name, "global-count", inputs))


def _java(name: str) -> Any:
    return ComponentObject(java_object=JavaObject(f"org.apache.storm.testing.{name}", []))


def _common(name: str, field: str, inputs: dict[Any, Any]) -> Any:
    return ComponentCommon(inputs, {"default": StreamInfo([field], False)}, CHAIN[name], "{}")


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(answer(line.strip(), sys.argv[1:])), flush=True)
