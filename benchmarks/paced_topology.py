"""A topology of known rates inside a lab, and a look at what the rates collector publishes of it.

    python -m benchmarks.paced_topology submit --nimbus HOST:PORT --sample-rate 1.0 slow=10 fast=1000
    python -m benchmarks.paced_topology watch --zookeeper HOST:PORT --root /stormplace

Each spout has a bolt of its own, `<spout>Sink`; an acker follows the tuples. `watch` prints each new
reading as one line of JSON until it is ended.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import threading
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kazoo.client import KazooClient
from streamparse.thrift import (
    Bolt,
    ComponentCommon,
    ComponentObject,
    GlobalStreamId,
    Grouping,
    JavaObject,
    NullStruct,
    ShellComponent,
    SpoutSpec,
    StormTopology,
    StreamInfo,
)

from benchmarks import paced_spout
from formats.address import Address
from formats.packed_content import unpack
from topologies import nimbus

if TYPE_CHECKING:
    from collections.abc import Mapping

NAME = "paced"
SINK = "org.apache.storm.testing.TestGlobalCount"
"""A bolt of Storm's own that counts, emits its count and acks."""


def main() -> None:
    """Submit or watch."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    submitting = commands.add_parser("submit")
    submitting.add_argument("--nimbus", type=Address.parse, required=True)
    submitting.add_argument("--name", default=NAME)
    submitting.add_argument("--sample-rate", type=float, required=True)
    submitting.add_argument("rates", nargs="+", metavar="SPOUT=RATE")
    watching = commands.add_parser("watch")
    watching.add_argument("--zookeeper", required=True)
    watching.add_argument("--root", required=True)
    arguments = parser.parse_args()
    if arguments.command == "submit":
        rates = {spout: float(rate) for spout, _, rate in (one.partition("=") for one in arguments.rates)}
        submit(arguments.nimbus, arguments.name, rates, arguments.sample_rate)
    else:
        watch(arguments.zookeeper, f"{arguments.root}/rates")


def submit(address: Address, name: str, rates: Mapping[str, float], sample_rate: float) -> None:
    """Start the topology.

    Args:
        address: Nimbus' Thrift port.
        name: Name of the topology.
        rates: Spout -> tuples/s.
        sample_rate: `topology.stats.sample.rate`.
    """
    conf = {
        "topology.workers": 2,
        "topology.acker.executors": 1,
        "topology.eventlogger.executors": 0,
        "topology.stats.sample.rate": sample_rate,
        "topology.subprocess.timeout.secs": 120,
        "topology.component.cpu.pcore.percent": 1.0,
        "paced.rates": dict(rates),
    }
    with tempfile.TemporaryDirectory() as folder, nimbus.connect(address) as client:
        jar = Path(folder) / "paced.jar"
        script = Path(paced_spout.__file__)
        with zipfile.ZipFile(jar, "w") as file:
            file.write(script, f"resources/{script.name}")
        nimbus.submit(client, name, jar, conf, _topology(rates, script.name))


def _topology(rates: Mapping[str, float], script: str) -> Any:
    shell = ShellComponent(execution_command=sys.executable, script=script)
    shuffle = Grouping(shuffle=NullStruct())
    return StormTopology(
        spouts={
            spout: SpoutSpec(spout_object=ComponentObject(shell=shell), common=_common({}, "number"))
            for spout in rates
        },
        bolts={
            f"{spout}Sink": Bolt(
                bolt_object=ComponentObject(java_object=JavaObject(full_class_name=SINK, args_list=[])),
                common=_common(
                    {GlobalStreamId(componentId=spout, streamId="default"): shuffle}, "global-count"
                ),
            )
            for spout in rates
        },
        state_spouts={},
    )


def _common(inputs: dict[Any, Any], field: str) -> Any:
    streams = {"default": StreamInfo(output_fields=[field], direct=False)}
    return ComponentCommon(inputs=inputs, streams=streams, parallelism_hint=1, json_conf="{}")


def watch(zookeeper: str, folder: str) -> None:
    """Print every reading that is published, until the process is ended."""
    client = KazooClient(hosts=zookeeper)
    client.start()

    def changed(data: bytes | None, _stat: Any) -> None:
        if data is not None:
            print(unpack(data).decode(), flush=True)

    def listed(children: list[str]) -> None:
        for child in set(children) - known:
            known.add(child)
            client.DataWatch(f"{folder}/{child}", changed)

    known: set[str] = set()
    client.ensure_path(folder)
    client.ChildrenWatch(folder, listed)
    threading.Event().wait()


if __name__ == "__main__":
    main()
