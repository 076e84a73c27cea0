"""Ends of a topology outside Storm, such as a broker or a store: fixed at a site, without any load."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from scheduler.model.problem import Stream

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bridge.problem.component_flows import ComponentFlows
    from bridge.problem.executor_graph import LinkCostBasis
    from bridge.wishes.topology_settings import TopologySettings
    from scheduler.base.arrays import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Terminal:
    """An end outside Storm, of one component.

    Attributes:
        name: Of its operator.
        role: Whether tuples come from it or go to it.
        site: Where it is.
        members: (n,) the component's executors.
        rate: (n,) tuples per second between it and each of them.
        tuple_bytes: Size of these.
        basis: What its streams pay the cost of links by.
    """

    name: str
    role: Literal["source", "sink"]
    site: str
    members: IntArray
    rate: FloatArray
    tuple_bytes: float
    basis: LinkCostBasis

    def streams(self, names: Sequence[str]) -> Iterator[Stream]:
        """Yield the streams between it and executors.

        Args:
            names: Name of each executor of the topology.
        """
        weight = {"stream": _shares(self.rate), "flow": np.ones(len(self.rate))}.get(
            self.basis, self.rate * self.tuple_bytes
        )
        for i, rate, link_weight in zip(
            self.members.tolist(), self.rate.tolist(), weight.tolist(), strict=True
        ):
            source, target = (self.name, names[i]) if self.role == "source" else (names[i], self.name)
            yield Stream(source, target, rate=rate, tuple_bytes=self.tuple_bytes, link_weight=link_weight)


def terminals_of(
    settings: TopologySettings, components: Sequence[str], flows: ComponentFlows
) -> tuple[Terminal, ...]:
    """Return the ends of a topology outside Storm.

    An executor takes in from outside what it emits, which is what it sends to the component that it sends
    most to, and it sends outside what it takes, unless a rate is declared.

    Args:
        settings: Where these ends are, declared rates, and what streams pay the cost of links by.
        components: Names of the topology's components.
        flows: What flows between them.
    """
    found = []
    for name, place in settings.origin.items():
        component = components.index(name)
        rate, size = flows.emitted(component)
        members, basis = flows.layout.members[component], settings.link_cost_basis
        found.append(Terminal(f"origin of {name}", "source", place.name, members, rate, size, basis))
    for name, place in settings.destination.items():
        component = components.index(name)
        rate, size = flows.taken(component)
        if name in settings.rates:
            rate = settings.rates[name] * _shares(rate)
        size = settings.tuple_bytes.get(name, size)
        members, basis = flows.layout.members[component], settings.link_cost_basis
        found.append(Terminal(f"destination of {name}", "sink", place.name, members, rate, size, basis))
    # components without executors send nothing
    return tuple(each for each in found if len(each.members))


def _shares(rate: FloatArray) -> FloatArray:
    """Return the share of each executor in the sum, alike where there is none."""
    total = rate.sum()
    return rate / total if total > 0 else np.full(len(rate), 1.0 / max(len(rate), 1))
