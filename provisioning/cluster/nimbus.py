"""Asks Nimbus what there is, and has it change numbers of executors."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from thriftpy2.thrift import TApplicationException

from formats.nimbus import IDL, NimbusError, connect, reason
from provisioning.cluster.look import (
    SAMPLE_RATE,
    STORMS_CPU,
    UNREADABLE,
    ClusterLook,
    RunningExecutor,
    Source,
    StormComponent,
    StormsExecutor,
    SupervisorLook,
    TopologyLook,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from formats.address import Address

_TIMEOUT_S = 20.0
_CPU = "topology.component.cpu.pcore.percent"
_ON_HEAP = "topology.component.resources.onheap.memory.mb"
_OFF_HEAP = "topology.component.resources.offheap.memory.mb"
_DEFAULTS = {_CPU: STORMS_CPU, _ON_HEAP: 128.0, _OFF_HEAP: 0.0}
"""Storm's own, for what a topology's configuration lacks."""
_SYSTEM = "__"
"""Ids that Storm adds itself begin so."""


class RebalanceRefusedError(NimbusError):
    """Nimbus does not do it, and would not if it was asked again."""


class HostUnlistedError(NimbusError):
    """Nimbus answers, and does not list a host."""


class NimbusCluster:
    """Storm's cluster behind Nimbus.

    Args:
        addresses: Of all Nimbus; the one that leads is asked.
    """

    def __init__(self, addresses: Sequence[Address]) -> None:
        self._addresses = addresses

    def look(self, names: Collection[str]) -> ClusterLook:
        """Return what there is.

        Args:
            names: Topologies that are of interest.

        Raises:
            NimbusError: Nimbus does not answer, or not so that it could be understood.
        """
        with connect(self._addresses, timeout_s=_TIMEOUT_S) as client:
            try:
                supervisors = [_supervisor(each) for each in client.getClusterInfo().supervisors]
                wanted = [each for each in client.getTopologySummaries() if each.name in names]
                looks = [_readable(client, each) for each in wanted]
            except (TApplicationException, TypeError, AttributeError, ValueError, KeyError) as error:
                raise NimbusError(f"Nimbus gave an answer that cannot be read: {reason(error)}") from error
        return ClusterLook(
            {each.host: each for each in supervisors},
            {each.name: each for each in looks if each is not None},
        )

    def has_workers(self, host: str) -> bool:
        """Return whether workers of any topology are assigned to a host.

        Raises:
            HostUnlistedError: Nimbus does not list the host.
            NimbusError: Nimbus does not answer.
        """
        with connect(self._addresses, timeout_s=_TIMEOUT_S) as client:
            supervisors = client.getClusterInfo().supervisors
        found = [each.num_used_workers for each in supervisors if each.host == host]
        if not found:
            # workers outlive their supervisor
            raise HostUnlistedError(f"Nimbus does not list {host}")
        return any(found)

    def rebalance(self, name: str, executors: Mapping[str, int]) -> None:
        """Change how many executors components of a topology have, all in one step.

        Spouts do not rest before: workers look for that every `task.refresh.poll.secs`, most too late.

        Args:
            name: Of the topology.
            executors: By component; the others keep theirs.

        Raises:
            RebalanceRefusedError: The topology is gone, or may not be changed by us.
            NimbusError: Nimbus does not answer: it may have done it or not.
        """
        with connect(self._addresses, timeout_s=_TIMEOUT_S) as client:
            try:
                client.rebalance(name, IDL.RebalanceOptions(wait_secs=0, num_executors=dict(executors)))
            except (
                IDL.NotAliveException,
                IDL.InvalidTopologyException,
                IDL.AuthorizationException,
            ) as error:
                raise RebalanceRefusedError(f"Nimbus refuses to rebalance {name}: {reason(error)}") from error


def _supervisor(summary: Any) -> SupervisorLook:
    resources = summary.total_resources or {}
    return SupervisorLook(
        summary.host,
        summary.num_used_workers,
        float(resources.get("cpu.pcore.percent", 0.0)),
        float(resources.get("memory.mb", 0.0)),
        bool(summary.blacklisted),
    )


def _readable(client: Any, summary: Any) -> TopologyLook | None:
    """Return a topology; one that cannot be read hides no other one."""
    try:
        return _topology(client, summary)
    except IDL.AuthorizationException as error:
        why = f"Nimbus does not let us read it: {reason(error)}"
    except (TApplicationException, TypeError, AttributeError, ValueError, KeyError) as error:
        why = f"what Nimbus says of it cannot be read: {reason(error)}"
    return TopologyLook(summary.name, summary.id, UNREADABLE, {}, (), fault=why)


def _topology(client: Any, summary: Any) -> TopologyLook | None:
    """Return a topology; None if it went while it was looked at."""
    options = IDL.GetInfoOptions(num_err_choice=IDL.NumErrorsChoice.NONE)
    try:
        topology = client.getTopology(summary.id)
        conf = json.loads(client.getTopologyConf(summary.id))
        info = client.getTopologyInfoWithOpts(summary.id, options)
    except IDL.NotAliveException:
        return None
    parts = [(name, spout.spout_object, spout.common) for name, spout in topology.spouts.items()]
    parts += [(name, bolt.bolt_object, bolt.common) for name, bolt in topology.bolts.items()]
    every = {name: _component(name, part, common, conf) for name, part, common in parts}
    components = {name: each for name, each in every.items() if not name.startswith(_SYSTEM)}
    executors = tuple(
        RunningExecutor(
            each.component_id,
            each.executor_info.task_start,
            each.executor_info.task_end,
            each.host,
            each.port,
        )
        for each in info.executors
        if each.component_id in components
    )
    storms = tuple(
        StormsExecutor(each.host, every[each.component_id].cpu, every[each.component_id].memory_mb)
        for each in info.executors
        if each.component_id in every and each.component_id not in components
    )
    rate = conf.get("topology.stats.sample.rate")
    sample_rate = SAMPLE_RATE if rate is None else float(rate)
    return TopologyLook(summary.name, summary.id, summary.status, components, executors, storms, sample_rate)


def _component(name: str, part: Any, common: Any, topology_conf: Mapping[str, Any]) -> StormComponent:
    conf = {**_DEFAULTS, **_numbers(topology_conf), **_numbers(json.loads(common.json_conf or "{}"))}
    inputs = tuple(
        Source(stream.componentId, stream.streamId, grouping.all is not None)
        for stream, grouping in common.inputs.items()
        if not stream.componentId.startswith(_SYSTEM) and not stream.streamId.startswith(_SYSTEM)
    )
    return StormComponent(
        name,
        int(conf.get("topology.tasks", common.parallelism_hint or 1)),
        inputs,
        part.shell is not None,
        conf[_CPU],
        conf[_ON_HEAP] + conf[_OFF_HEAP],
        "" if part.shell is None else part.shell.script or "",
    )


def _numbers(conf: Mapping[str, Any]) -> dict[str, float]:
    """Return what counts of a configuration; Storm keeps keys without a value as null."""
    wanted = (*_DEFAULTS, "topology.tasks")
    return {key: float(conf[key]) for key in wanted if conf.get(key) is not None}
