"""What managers of a topology are made from, which stays the same while they learn."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scheduler.elasticity.leasing.component import Component
    from scheduler.elasticity.leasing.observation import ComponentReading

_OFF = 1.25
"""A service time or a share that differs by more than this factor is another one."""
_OFF_S = 600.0
"""What differs for so long without a break is what counts from then on, s."""


@dataclass(frozen=True)
class PartBasis:
    """What is known of a component to which something comes.

    Attributes:
        component: Its name.
        service_ms: For so long an item occupies an executor, ms (> 0).
        per_item: Items that come to it for one that comes to the first of its topology (> 0).
    """

    component: str
    service_ms: float
    per_item: float


@dataclass(frozen=True)
class Basis:
    """What is known of a topology; estimates of managers mean something else on another basis.

    Attributes:
        parts: Components to which something comes; the one to which most came first is the first.
        stated: What is stated of managers, as JSON has it.
        off_since_s: Since when what is measured has differed, s; None: it does not.
    """

    parts: tuple[PartBasis, ...]
    stated: Mapping[str, Any]
    off_since_s: float | None = None


def measured(
    components: Sequence[Component], readings: Mapping[str, ComponentReading], first: str | None = None
) -> tuple[tuple[PartBasis, ...], str]:
    """Return what is known of a topology's components now, or why that is not known.

    A component to which nothing comes is left out: how long it would take cannot be known. Where nothing
    comes to any, nothing is unknown.

    Args:
        components: Of the topology.
        readings: Those that count.
        first: Which component comes first if something comes to it; else that to which most comes.
    """
    demands: dict[str, float] = {}
    for name in sorted(each.name for each in components):
        reading = readings.get(name)
        if reading is None:
            return (), f"there is no reading of {name}"
        if reading.demand_per_s is None:
            return (), f"how much comes to {name} is not known"
        if reading.demand_per_s > 0.0:
            if reading.service_ms is None:
                return (), f"how long an item takes at {name} is not known: state service_ms, or wait"
            demands[name] = reading.demand_per_s
    if not demands:
        return (), ""
    order = sorted(demands, key=lambda name: (name != first, -demands[name], name))
    services = {each.component: each.service_ms or 0.0 for each in readings.values()}
    return tuple(PartBasis(name, services[name], demands[name] / demands[order[0]]) for name in order), ""


def kept_or_new(
    basis: Basis | None,
    components: Sequence[Component],
    readings: Mapping[str, ComponentReading],
    stated: Mapping[str, Any],
    now_s: float,
) -> tuple[Basis | None, str]:
    """Return the basis of a topology from now on, and what is not known without which there is none.

    It is made once all is known, and stays: what is measured in each round differs a little, and would
    change what estimates mean. It is made anew once what is stated has changed, or what is measured has been
    far from it for ten minutes.

    Args:
        basis: From the rounds before.
        components: Of the topology.
        readings: Those that count.
        stated: What is stated of managers now.
        now_s: Time, s.
    """
    first = None if basis is None else basis.parts[0].component
    parts, why = measured(components, readings, first)
    names = {each.name for each in components}
    if basis is not None and (
        basis.stated != stated or not {each.component for each in basis.parts} <= names
    ):
        basis = None
    if not parts:
        return basis, "" if basis is not None else why
    if basis is None:
        return Basis(parts, stated), ""
    if not _off(basis, parts):
        return replace(basis, off_since_s=None), ""
    since_s = min(now_s, now_s if basis.off_since_s is None else basis.off_since_s)
    return Basis(parts, stated) if now_s - since_s >= _OFF_S else replace(basis, off_since_s=since_s), ""


def _off(basis: Basis, parts: Sequence[PartBasis]) -> bool:
    """Return whether what is measured is far from a basis; components to which nothing comes now are not."""
    known = {each.component: each for each in basis.parts}
    if {each.component for each in parts} - known.keys():
        return True
    pairs = [(each.service_ms, known[each.component].service_ms) for each in parts]
    if parts[0].component == basis.parts[0].component:
        pairs += [(each.per_item, known[each.component].per_item) for each in parts]
    return any(max(now, before) > _OFF * min(now, before) for now, before in pairs)
