"""On which hosts of a region executors start and stop, and how many more there is room for."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from scheduler.elasticity.leasing.host_score import fits

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scheduler.elasticity.leasing.component import Component
    from scheduler.elasticity.leasing.host import Host

_ROUNDING = 1e-9


def free_slots(hosts: Sequence[Host], components: Sequence[Component]) -> int:
    """Return how many more executors hosts have room for that are up and stay, whichever component needs it.

    Args:
        hosts: Of a region.
        components: That run there; the largest counts.
    """
    by_name = {each.name: each for each in components}
    return sum(
        max(0, min(math.floor(fits(host, each, by_name) + _ROUNDING) for each in components))
        for host in hosts
        if host.status == "ready" and components
    )


def home_of_one_more(
    hosts: Sequence[Host], component: Component, components: Mapping[str, Component]
) -> str | None:
    """Return the fullest host that has room, so that others become idle; None if there is none."""
    suitable = [
        each
        for each in hosts
        if each.status == "ready" and fits(each, component, components) >= 1.0 - _ROUNDING
    ]
    return min(suitable, key=lambda each: _room(each, components)).name if suitable else None


def home_of_one_less(
    hosts: Sequence[Host], component: str, components: Mapping[str, Component]
) -> str | None:
    """Return the emptiest host that has one, for the same reason; None if none has.

    The paper stops any one, which leaves hosts half empty.
    """
    having = [each for each in hosts if each.count(component)]
    return max(having, key=lambda each: _room(each, components)).name if having else None


def _room(host: Host, components: Mapping[str, Component]) -> tuple[float, float]:
    return host.free_memory_mb(components), host.free_cpu(components)
