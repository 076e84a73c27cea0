"""Which readings are too old to decide on: of tasks that have fallen silent the last word stays known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from formats.counted import some_of
from scheduler.elasticity.layers.one_pool.parameters import topology_of
from scheduler.elasticity.leasing.parameters import LeasingParameters

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scheduler.elasticity.leasing.observation import ComponentReading


def too_old(readings: Sequence[ComponentReading], stated: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what is held as its readings are too old, one sentence for each topology.

    A sentence stays the same while that lasts, so that it is logged once.

    Args:
        readings: Of components, by their names among those of all topologies.
        stated: Parameters of the policy, as far as its settings state them.
    """
    age_max_s: float = stated.get("sample_age_max_s", LeasingParameters.sample_age_max_s)
    silent: dict[str, list[str]] = {}
    for each in readings:
        if each.age_s > age_max_s:
            topology = topology_of(each.component)
            silent.setdefault(topology, []).append(each.component.removeprefix(f"{topology}/"))
    return tuple(
        f"{topology}: tasks have reported nothing for over {age_max_s:g} s; held are {some_of(names)}"
        for topology, names in sorted(silent.items())
    )
