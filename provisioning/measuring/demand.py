"""How much would come to each component if none before it held anything up. Pure."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    from provisioning.cluster.look import StormComponent

LEAST = 400.0
"""Items from which on something is said of a component: Storm counts and times one in twenty."""
Edge: TypeAlias = str
"""`from:stream>to`, as the memory has it."""


def handed_on(
    components: Mapping[str, StormComponent],
    executed: Mapping[tuple[str, str, str], float],
    emitted: Mapping[tuple[str, str], float],
) -> dict[Edge, float]:
    """Return how many items each component hands on over each stream for one that it has taken.

    Both are counted by the same workers since their start: what others have taken of it may be of another
    time. A component that has done little is not in it.

    Args:
        components: By name.
        executed: (component, from, stream) -> items that it has taken.
        emitted: (component, stream) -> items that it has emitted.
    """
    done = {
        name: sum(
            rate for (other, *_), rate in (executed if one.inputs else emitted).items() if other == name
        )
        for name, one in components.items()
    }
    return {
        edge(each.component, each.stream, name): emitted.get((each.component, each.stream), 0.0)
        / done[each.component]
        for name, one in components.items()
        for each in one.inputs
        if done.get(each.component, 0.0) >= LEAST
    }


def edge(source: str, stream: str, to: str) -> Edge:
    """Return the name of an edge."""
    return f"{source}:{stream}>{to}"


def carried(
    components: Mapping[str, StormComponent], ratios: Mapping[Edge, float], per_source: Mapping[str, float]
) -> dict[str, float]:
    """Return what would come to each component, in the unit of `per_source`; of a spout, what it is given.

    A component that is reached over an edge without a ratio is not in it: it is not known. Where items go
    round in a circle, what comes round is left out.

    Args:
        components: By name.
        ratios: From `handed_on`.
        per_source: Spout -> what comes to it: items per second, or items that wait.
    """
    demand: dict[str, float] = {}
    later = set(components)
    for name in _order(components):
        later.discard(name)
        inputs = [each for each in components[name].inputs if each.component not in later | {name}]
        if not components[name].inputs:
            demand[name] = per_source.get(name, 0.0)
        elif all(
            each.component in demand and edge(each.component, each.stream, name) in ratios for each in inputs
        ):
            demand[name] = sum(
                demand[each.component] * ratios[edge(each.component, each.stream, name)] for each in inputs
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
