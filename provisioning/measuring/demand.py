"""How much would come to each component if none before it held anything up. Pure."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    from provisioning.cluster.look import StormComponent

Edge: TypeAlias = str
"""`from:stream>to`, as the memory has it."""


def handed_on(
    components: Mapping[str, StormComponent],
    executed: Mapping[tuple[str, str, str], float],
    emitted: Mapping[tuple[str, str], float],
) -> dict[Edge, float]:
    """Return how many items each component hands on over each stream for one that comes to it.

    A component that cannot keep up takes less than is emitted for it: then what is emitted counts, and not
    what it takes. Of a component that does nothing at present nothing is said.

    Args:
        components: By name.
        executed: (component, from, stream) -> items per second that it takes.
        emitted: (component, stream) -> items per second that it emits.
    """
    done = {
        name: sum(
            rate for (other, *_), rate in (executed if one.inputs else emitted).items() if other == name
        )
        for name, one in components.items()
    }
    ratios = {}
    for name, one in components.items():
        for each in one.inputs:
            if done.get(each.component, 0.0) > 0.0:
                given = max(
                    executed.get((name, each.component, each.stream), 0.0),
                    emitted.get((each.component, each.stream), 0.0),
                )
                ratios[edge(each.component, each.stream, name)] = given / done[each.component]
    return ratios


def edge(source: str, stream: str, to: str) -> Edge:
    """Return the name of an edge."""
    return f"{source}:{stream}>{to}"


def carried(
    components: Mapping[str, StormComponent], ratios: Mapping[Edge, float], per_source: Mapping[str, float]
) -> dict[str, float]:
    """Return what would come to each component, in the unit of `per_source`; of a spout, what it is given.

    Where items go round in a circle, what comes round is left out.

    Args:
        components: By name.
        ratios: From `handed_on`.
        per_source: Spout -> what comes to it: items per second, or items that wait.
    """
    demand: dict[str, float] = {}
    for name in _order(components):
        inputs = components[name].inputs
        demand[name] = (
            sum(
                demand.get(each.component, 0.0) * ratios.get(edge(each.component, each.stream, name), 0.0)
                for each in inputs
            )
            if inputs
            else per_source.get(name, 0.0)
        )
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
