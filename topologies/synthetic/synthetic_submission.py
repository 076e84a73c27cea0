"""A workload as Storm's topology, one component with one executor per operator, and its submission."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from streamparse.thrift import (
    Bolt,
    ComponentCommon,
    ComponentObject,
    GlobalStreamId,
    Grouping,
    NullStruct,
    ShellComponent,
    SpoutSpec,
    StormTopology,
    StreamInfo,
)

from topologies.submission import ACKERS_KEY, Submission
from topologies.synthetic.configuration import (
    CPU_KEY,
    REDIS_KEY,
    REPLAY_KEY,
    RUN_KEY,
    SPEEDUPS_KEY,
    WORKLOAD_KEY,
    amounts,
    is_replayed,
)
from topologies.synthetic.journey import FIELDS, stream_id

if TYPE_CHECKING:
    from topologies.synthetic.workload import Workload

RATES_KEY = "topology.stormplace.rates"
EXECUTION_KEY = "topology.stormplace.execution.ms"

_COMPONENTS = "topologies.synthetic.components"
_TICK_S = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class SyntheticSubmission(Submission):
    """A synthetic topology; `conf` wins over everything but the workload, the run and Redis.

    Attributes:
        workload: What the topology does.
    """

    workload: Workload

    def configuration(self) -> dict[str, object]:
        """Return the topology configuration.

        Rates and work are declared to Stormplace's scheduler: it would not know the rates before they are
        measured, and Storm does not measure the work of components in other processes. A component has one
        declared rate, the highest of its streams.

        Raises:
            ValueError: Speed-ups or replay are asked for in a wrong way.
        """
        conf = self.base_configuration()
        conf[RATES_KEY] = {
            operator.component: max(self.workload.streams[k].rate for k in leaving)
            for index, operator in enumerate(self.workload.operators)
            if (leaving := self.workload.leaving(index))
        }
        conf[EXECUTION_KEY] = {each.component: each.work_ms for each in self.workload.operators}
        conf.update(self.conf)
        amounts(conf, SPEEDUPS_KEY)
        if is_replayed(conf) and ACKERS_KEY not in self.conf:
            conf[ACKERS_KEY] = 1
        if is_replayed(conf) and conf[ACKERS_KEY] == 0:
            raise ValueError(f"{REPLAY_KEY}: without ackers nothing is sent again: {ACKERS_KEY} is 0")
        conf[REDIS_KEY] = str(self.redis)
        conf[RUN_KEY] = self.run.id
        conf[WORKLOAD_KEY] = self.workload.to_conf()
        return conf

    def thrift_topology(self) -> Any:
        """Return the topology as Storm wants it."""
        cpu = amounts(self.conf, CPU_KEY)
        spouts: dict[str, Any] = {}
        bolts: dict[str, Any] = {}
        for index, operator in enumerate(self.workload.operators):
            conf: dict[str, object] = {}
            if operator.component in cpu:
                conf["topology.component.cpu.pcore.percent"] = cpu[operator.component]
            if index in self.workload.sources:
                spouts[operator.component] = SpoutSpec(
                    spout_object=self._shell("Source"), common=self._common(index, conf)
                )
            else:
                sink = index in self.workload.sinks
                conf |= {"topology.tick.tuple.freq.secs": _TICK_S} if sink else {}
                bolts[operator.component] = Bolt(
                    bolt_object=self._shell("Sink" if sink else "Inner"), common=self._common(index, conf)
                )
        return StormTopology(spouts=spouts, bolts=bolts, state_spouts={})

    def _shell(self, name: str) -> Any:
        shell = ShellComponent(execution_command=str(self.command), script=f"{_COMPONENTS}.{name}")
        return ComponentObject(shell=shell)

    def _common(self, index: int, conf: dict[str, object]) -> Any:
        operators = self.workload.operators
        inputs = {
            GlobalStreamId(componentId=operators[stream.source].component, streamId=stream_id(k)): Grouping(
                shuffle=NullStruct()
            )
            for k, stream in enumerate(self.workload.streams)
            if stream.target == index
        }
        streams = {
            stream_id(k): StreamInfo(output_fields=list(FIELDS), direct=False)
            for k in self.workload.leaving(index)
        }
        return ComponentCommon(inputs=inputs, streams=streams, parallelism_hint=1, json_conf=json.dumps(conf))
