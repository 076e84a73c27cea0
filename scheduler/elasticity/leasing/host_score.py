"""Algorithm 2 of paper 003: how well a host suits one more executor of a component."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scheduler.elasticity.leasing.component import Component
    from scheduler.elasticity.leasing.host import Host

NO_ROOM = -1.0
"""Score of a host that cannot take the executor."""

_ROUNDING = 1e-9
"""An executor fits although sums of guarantees exceed the capacity by so much of it."""


def fits(host: Host, component: Component, components: Mapping[str, Component]) -> float:
    """Return how many executors of a component a host could take, as a fraction; below 1 it has no room.

    Args:
        host: The host.
        component: o.
        components: All by name, for what runs on the host.
    """
    by_cpu = host.free_cpu(components) / component.cpu
    by_memory = host.free_memory_mb(components) / component.memory_mb
    return min(by_cpu, by_memory)


def host_score(
    host: Host, component: Component, components: Mapping[str, Component], cached_factor: float
) -> float:
    """Return the score of a host, lower is better, or `NO_ROOM`.

    score = | (h_cpu* - o_cpu)/h_cpu - (h_memory* - o_memory)/h_memory | / fits, times CF if the image is
    there: equal use of CPU and memory first, emptier hosts second, cached images before all. The paper's
        text says that
    a negative score means room; its algorithm and its prose on feasibility say the opposite, which is meant.

    Args:
        host: h.
        component: o.
        components: All by name.
        cached_factor: CF, in [0, 1].
    """
    room = fits(host, component, components)
    if room < 1.0 - _ROUNDING:
        return NO_ROOM
    cpu = (host.free_cpu(components) - component.cpu) / host.cpu
    memory = (host.free_memory_mb(components) - component.memory_mb) / host.memory_mb
    score = abs(cpu - memory) / room
    return score * cached_factor if component.name in host.images else score
