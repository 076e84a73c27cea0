"""How much would come to each component if none before it held anything up. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    from provisioning.cluster.look import Source, StormComponent

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
        _edge_to(name, each): emitted.get((each.component, each.stream), 0.0)
        * (one.tasks if each.to_all else 1)
        / done[each.component]
        for name, one in components.items()
        for each in one.inputs
        if done.get(each.component, 0.0) >= LEAST
    }


def _edge_to(name: str, source: Source) -> Edge:
    return f"{source.component}:{source.stream}>{name}"


def carried(
    components: Mapping[str, StormComponent], ratios: Mapping[Edge, float], per_source: Mapping[str, float]
) -> dict[str, float]:
    """Return what would come to each component, in the unit of `per_source`; of a spout, what it is given.

    What is not known is not in it: a component that is reached over an edge without a ratio, one around which
    items go in a circle, and what comes behind.

    Args:
        components: By name.
        ratios: From `handed_on`.
        per_source: Spout -> what comes to it: items per second, or items that wait.
    """
    demand = {name: per_source.get(name, 0.0) for name, one in components.items() if not one.inputs}
    waiting = {name: one for name, one in components.items() if one.inputs}
    while True:
        found = {
            name: sum(demand[each.component] * ratios[_edge_to(name, each)] for each in one.inputs)
            for name, one in waiting.items()
            if all(each.component in demand and _edge_to(name, each) in ratios for each in one.inputs)
        }
        if not found:
            return demand
        demand |= found
        waiting = {name: one for name, one in waiting.items() if name not in found}
