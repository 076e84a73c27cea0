"""A workload as Storm's topology: one component with one executor per operator."""

from __future__ import annotations

import json
import re
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

from topologies.submission import component_command
from topologies.synthetic.keys import FIELDS, stream_id

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from topologies.synthetic.workload import Workload

_COMPONENTS = "topologies.synthetic.components"
_TICK_S = 2
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]")


def component_ids(names: Iterable[str]) -> tuple[str, ...]:
    """Return ids that Storm takes, one per operator: letters, digits, `-` and `_`, each id once.

    Storm keeps ids that begin with `__` for itself.
    """
    taken: dict[str, None] = {}
    for name in names:
        safe = _UNSAFE.sub("_", name).lstrip("_") or "operator"
        number, identity = 1, safe
        while identity in taken:
            number += 1
            identity = f"{safe}-{number}"
        taken[identity] = None
    return tuple(taken)


def thrift_topology(workload: Workload, python_env: Path) -> Any:
    """Return the topology as Storm wants it, its components started by the environment's `streamparse_run`.

    Args:
        workload: What it does.
        python_env: As for `component_command`.
    """
    command = str(component_command(python_env))
    spouts: dict[str, Any] = {}
    bolts: dict[str, Any] = {}
    for index, operator in enumerate(workload.operators):
        if index in workload.sources:
            spouts[operator.component] = SpoutSpec(
                spout_object=_shell(command, "Source"), common=_common(workload, index, {})
            )
        else:
            sink = index in workload.sinks
            conf: dict[str, object] = {"topology.tick.tuple.freq.secs": _TICK_S} if sink else {}
            bolts[operator.component] = Bolt(
                bolt_object=_shell(command, "Sink" if sink else "Inner"),
                common=_common(workload, index, conf),
            )
    return StormTopology(spouts=spouts, bolts=bolts, state_spouts={})


def _shell(command: str, name: str) -> Any:
    return ComponentObject(shell=ShellComponent(execution_command=command, script=f"{_COMPONENTS}.{name}"))


def _common(workload: Workload, index: int, conf: dict[str, object]) -> Any:
    inputs = {
        GlobalStreamId(
            componentId=workload.operators[stream.source].component, streamId=stream_id(k)
        ): Grouping(shuffle=NullStruct())
        for k, stream in enumerate(workload.streams)
        if stream.target == index
    }
    streams = {
        stream_id(k): StreamInfo(output_fields=list(FIELDS), direct=False) for k in workload.leaving(index)
    }
    return ComponentCommon(inputs=inputs, streams=streams, parallelism_hint=1, json_conf=json.dumps(conf))
