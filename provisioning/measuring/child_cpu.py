"""How long an item occupies a component in another process at least: for so long it is computed. Pure."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from formats.script_key import script_key
from provisioning.measuring.demand import LEAST

if TYPE_CHECKING:
    from collections.abc import Mapping

    from provisioning.cluster.look import TopologyLook

_LEAST_S = 10.0
"""Processor time from which on it counts: a process also starts, and waits for work."""
_BUSY = 0.5
"""Share of the executors' time that has to be computed: the bound is then at most a half too low."""


def child_cpu_ms(
    topology: TopologyLook,
    child_s: Mapping[tuple[str, str], float],
    executed: Mapping[str, float],
    taken_per_s: Mapping[str, float],
) -> dict[str, float]:
    """Return the processor time that components in other processes take for an item, ms.

    It is a lower bound of the time that an item occupies an executor. Where executors compute for at least
    half of their time it is no less than half of it, as no executor is busy for longer than it is there; nor
    is more said where processes have several threads, or executors several tasks. Others may wait for
    something outside, and nothing is said of them. Neither is of components that share a script.

    Args:
        topology: Its components and executors.
        child_s: (topology id, script) -> processor time, s, by `Agents.child_seconds`.
        executed: Component -> items that its tasks took since their workers' starts.
        taken_per_s: Component -> items that it takes now, 1/s.
    """
    shared = Counter(each.script for each in topology.components.values())
    counts, found = topology.counts(), {}
    for name, one in topology.components.items():
        used_s = child_s.get((topology.topology_id, script_key(one.script)), 0.0)
        items = executed.get(name, 0.0)
        if not (one.shell and one.script) or shared[one.script] > 1:
            continue
        if used_s < _LEAST_S or items < LEAST:
            continue
        ms, rate = used_s * 1000.0 / items, taken_per_s.get(name, 0.0)
        if rate * ms / 1000.0 >= _BUSY * counts[name] > 0.0:
            found[name] = min(ms, counts[name] * 1000.0 / rate)
    return found
