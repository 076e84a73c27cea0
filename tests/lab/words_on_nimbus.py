"""Submits a topology of 40 executors and says what the leading Nimbus knows of it; runs on a host of the lab.

    python -m tests.lab.words_on_nimbus HOST ...

Each line on standard input, `submit`, `look`, `seen` or `scale COMPONENT N`, is answered by one line of JSON.
The last two go the way of the elastic loop. Nothing is configured: the topology has Storm's defaults.
"""

from __future__ import annotations

import json
import sys
import tempfile
import zipfile
from collections import Counter
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
from provisioning.cluster.nimbus import NimbusCluster
from topologies import nimbus

NAME = "words"
CHAIN = {"words": 10, "counts": 15, "totals": 13, "report": 1}
"""Executors of each component; each but the first reads the one before. Storm adds an acker."""
_TIMEOUT_S = 10.0


def answer(request: str, hosts: list[str]) -> dict[str, Any]:
    """Return what the leader says, or the fault."""
    seeds = [Address(host, NIMBUS_PORT) for host in hosts]
    try:
        match request.split():
            case ["seen"]:
                return seen_by_the_loop(seeds)
            case ["scale", component, executors]:
                NimbusCluster(seeds).rebalance(NAME, {component: int(executors)})
                return {}
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


def seen_by_the_loop(seeds: list[Address]) -> dict[str, Any]:
    """Return the executors and tasks of each component, and the hosts, as the elastic loop reads them."""
    look = NimbusCluster(seeds).look({NAME})
    topology = look.topologies[NAME]
    return {
        "executors": Counter(each.component for each in topology.executors),
        "tasks": {name: each.tasks for name, each in topology.components.items()},
        "hosts": sorted(look.supervisors),
        "fault": topology.fault,
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
