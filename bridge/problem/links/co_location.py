"""Executors that share a host because their components are to be together."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bridge.wire.messages import Topology


def together(
    sets: Sequence[Sequence[str]], topology: Topology, names: Sequence[str]
) -> tuple[tuple[str, ...], ...]:
    """Return the names of executors that share a host, two or more each; sets may share some.

    Of two neighbours in a set, with n and m executors, the k-th of the first one joins the (k m // n)-th of
    the second one; those that are left over of the second one are free.

    Args:
        sets: Names of components.
        topology: The topology.
        names: Name of each executor.
    """
    position = {name: k for k, name in enumerate(topology.component_names)}
    members: dict[int, list[str]] = {}
    for component, name in zip(topology.executor_component, names, strict=True):
        members.setdefault(component, []).append(name)
    found: list[tuple[str, ...]] = []
    for each in sets:
        for first, second in pairwise(each):
            own, other = (members.get(position[name], []) for name in (first, second))
            groups: dict[str, list[str]] = {}
            for k, name in enumerate(own if other else []):
                groups.setdefault(other[k * len(other) // len(own)], []).append(name)
            found += [(leader, *group) for leader, group in groups.items()]
    return tuple(found)
