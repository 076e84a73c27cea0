"""A source, bolts that sleep, one after the other, and a sink as Storm's topology, and its submission."""

from __future__ import annotations

import json
import subprocess
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamparse.thrift import (
    Bolt,
    ComponentCommon,
    ComponentObject,
    GlobalStreamId,
    Grouping,
    JavaObject,
    JavaObjectArg,
    NullStruct,
    ShellComponent,
    SpoutSpec,
    StormTopology,
    StreamInfo,
)

from topologies.graphite_reporter import reporting_to
from topologies.sleeping.configuration import FIELD, REDIS_KEY, RUN_KEY
from topologies.submission import ACKERS_KEY, Submission, write_jar

if TYPE_CHECKING:
    from collections.abc import Mapping

    from formats.address import Address

SOURCE, SINK = "source", "sink"
_JAVA = Path(__file__).parent / "SleepingBolt.java"
_CLASS = "io.stormplace.load.SleepingBolt"
_COMPONENTS = "topologies.sleeping.components"


@dataclass(frozen=True, slots=True)
class Sleeper:
    """A bolt that sleeps.

    Attributes:
        name: Of the component.
        service_ms: For so long an item occupies an executor, ms.
        executors: How many it starts with.
    """

    name: str
    service_ms: float
    executors: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SleepingSubmission(Submission):
    """A sleeping topology; `conf` wins over everything but the run and Redis.

    Attributes:
        sleepers: The bolts between source and sink, in order.
        tasks: Of each of them.
        graphite: Where workers report to, by number: reporters do not know the lab's names.
        storm_home: Storm's own folder, against which the bolt is compiled.
    """

    sleepers: tuple[Sleeper, ...]
    tasks: int
    graphite: Address
    storm_home: Path

    def configuration(self) -> dict[str, object]:
        """Return the topology configuration."""
        conf = self.base_configuration()
        conf[ACKERS_KEY] = 1
        # Storm counts and times one item in twenty of each task: of many tasks that is little
        conf["topology.stats.sample.rate"] = 1.0
        conf |= reporting_to(self.graphite)
        conf.update(self.conf)
        conf[REDIS_KEY] = str(self.redis)
        conf[RUN_KEY] = self.run.id
        return conf

    def thrift_topology(self) -> Any:
        """Return the topology as Storm wants it."""
        spouts = {SOURCE: SpoutSpec(spout_object=self._shell("Source"), common=_common(None, 1, 1))}
        bolts: dict[str, Any] = {}
        before = SOURCE
        for each in self.sleepers:
            arguments = [
                JavaObjectArg(double_arg=each.service_ms),
                JavaObjectArg(double_arg=1.0),
                JavaObjectArg(string_arg=FIELD),
            ]
            java = ComponentObject(java_object=JavaObject(full_class_name=_CLASS, args_list=arguments))
            bolts[each.name] = Bolt(
                bolt_object=java, common=_common(before, min(each.executors, self.tasks), self.tasks)
            )
            before = each.name
        bolts[SINK] = Bolt(bolt_object=self._shell("Sink"), common=_common(before, 1, 1, emits=False))
        return StormTopology(spouts=spouts, bolts=bolts, state_spouts={})

    def write_jar(self, path: Path) -> None:
        """Write what workers need: the ends in Python, and the bolt.

        Raises:
            OSError: There is no compiler.
            ValueError: It does not compile.
        """
        write_jar(path)
        with tempfile.TemporaryDirectory() as name, zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as jar:
            folder = Path(name)
            command = ["javac", "-cp", f"{self.storm_home}/lib/*", "-d", str(folder), str(_JAVA)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise ValueError(f"{_JAVA.name} does not compile: {done.stderr.strip()}")
            for file in sorted(folder.rglob("*.class")):
                jar.write(file, file.relative_to(folder))

    def _shell(self, name: str) -> Any:
        shell = ShellComponent(execution_command=str(self.command), script=f"{_COMPONENTS}.{name}")
        return ComponentObject(shell=shell)


def _common(before: str | None, executors: int, tasks: int, *, emits: bool = True) -> Any:
    inputs: Mapping[Any, Any] = (
        {}
        if before is None
        else {GlobalStreamId(componentId=before, streamId="default"): Grouping(shuffle=NullStruct())}
    )
    streams = {"default": StreamInfo(output_fields=[FIELD], direct=False)} if emits else {}
    conf = json.dumps({"topology.tasks": tasks})
    return ComponentCommon(inputs=inputs, streams=streams, parallelism_hint=executors, json_conf=conf)
