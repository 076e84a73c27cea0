"""How much would come to each component if none before it held anything up. Pure."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from provisioning.cluster.look import StormComponent


def carried(
    components: Mapping[str, StormComponent],
    executed: Mapping[tuple[str, str, str], float],
    emitted: Mapping[tuple[str, str], float],
    per_source: Mapping[str, float],
) -> dict[str, float]:
    """Return what would come to each component, in the unit of `per_source`; of a spout, what it is given.

    What a component hands on per item is measured, and applied to what would come to it. One that cannot keep
    up takes less than is emitted for it: then what is emitted counts, and not what it takes.

    Args:
        components: By name.
        executed: (component, from, stream) -> items per second that it takes.
        emitted: (component, stream) -> items per second that it emits.
        per_source: Spout -> what comes to it: items per second, or items that wait.
    """
    taken = {
        name: sum(rate for (component, _, _), rate in executed.items() if component == name)
        for name in components
    }
    done = {
        name: taken[name]
        if one.inputs
        else sum(rate for (other, _), rate in emitted.items() if other == name)
        for name, one in components.items()
    }
    demand: dict[str, float] = {}
    for name in _order(components):
        if not components[name].inputs:
            demand[name] = per_source.get(name, 0.0)
            continue
        demand[name] = 0.0
        for each in components[name].inputs:
            given = max(
                executed.get((name, each.component, each.stream), 0.0),
                emitted.get((each.component, each.stream), 0.0),
            )
            if done.get(each.component, 0.0) > 0.0:
                # of one that comes later in the order items go round: what it hands on is part of what comes
                before = demand.get(each.component, done[each.component])
                demand[name] += before * given / done[each.component]
    return demand


def _order(components: Mapping[str, StormComponent]) -> tuple[str, ...]:
    """Return the components, each after those that it reads where items do not go round in a circle."""
    graph = {
        name: {each.component for each in one.inputs if each.component in components}
        for name, one in components.items()
    }
    try:
        return tuple(TopologicalSorter(graph).static_order())
    except CycleError:
        return tuple(components)
