"""How many tuples spouts emit again when executors restart: an estimate from measured rates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bridge.wire.messages import ComponentKind

if TYPE_CHECKING:
    from collections.abc import Collection

    from bridge.readings.rates import MeasuredRates
    from bridge.wire.messages import Topology
    from scheduler.base.arrays import BoolArray, FloatArray, IntArray

_ENDS = ("__ack_ack", "__ack_fail")


def replayed_tuples(
    topology: Topology,
    measured: MeasuredRates | None,
    restarting: Collection[int],
    pause_s: float,
    response_time_ms: float | None,
) -> float | None:
    """Return how many tuples spouts have to emit again.

    A tuple is emitted again if any of those that follow from it, or the acker that tracks it, is lost: it
    meets an executor that restarts, while that stands still or when it ends. What spouts that restart would
    emit waits in their source; only what is under way of theirs is lost. How often a tuple comes by a
    component follows from the rates, and which of its executors it meets counts as chance.

    Args:
        topology: The topology.
        measured: Its measured rates.
        restarting: Executors that restart.
        pause_s: How long they stand still.
        response_time_ms: How long a tuple is under way, where that is not measured.

    Returns:
        None where nothing is acknowledged, or where that or the rates of what restarts are not measured.
    """
    trees = 0.0 if measured is None else _trees(topology, measured)
    if measured is None or trees <= 0:
        return None
    kinds, component = topology.component_kinds, np.array(topology.executor_component, dtype=np.int64)
    restarts = np.isin(np.arange(topology.n_executors), list(restarting))
    spout = np.array([kind is ComponentKind.SPOUT for kind in kinds], dtype=np.bool_)[component]
    executed = measured.executors(topology).executed
    missed = 1.0
    for each in np.unique(component[restarts & ~spout]).tolist():
        if kinds[each] is ComponentKind.SYSTEM:
            continue
        visits = 1.0
        if kinds[each] is not ComponentKind.ACKER:
            taken = [edge.rate for key, edge in measured.taken.items() if key[2] == _name(topology, each)]
            if not taken:
                return None
            visits = sum(taken) / trees
        share = _share(executed, component == each, restarts)
        missed *= 1.0 - min(visits, 1.0) * (1.0 - (1.0 - share) ** max(visits, 1.0))
    own = _share(executed, spout, restarts)
    under_way_ms = measured.complete_ms if measured.complete_ms is not None else response_time_ms
    under_way = trees * (under_way_ms or 0.0) / 1000.0
    hit = (1.0 - own) * (1.0 - missed)
    return hit * (trees * pause_s + under_way) + own * under_way


def _trees(topology: Topology, measured: MeasuredRates) -> float:
    """Tuples per second that spouts emit and ackers follow to their end."""
    kind = dict(zip(topology.component_names, topology.component_kinds, strict=True))
    return sum(
        edge.rate
        for (source, stream, target), edge in measured.taken.items()
        if kind.get(source) is ComponentKind.ACKER
        and kind.get(target) is ComponentKind.SPOUT
        and stream in _ENDS
    )


def _share(executed: FloatArray, members: BoolArray, restarts: BoolArray) -> float:
    """Return the part of what some executors take that those take which restart; by number if unknown."""
    own: IntArray = np.flatnonzero(members)
    weight = executed[own]
    if np.isnan(weight).any() or weight.sum() <= 0:
        weight = np.ones(own.size)
    return float(weight[restarts[own]].sum() / weight.sum()) if own.size else 0.0


def _name(topology: Topology, component: int) -> str:
    return topology.component_names[component]
