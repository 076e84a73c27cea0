"""Nodes that differ: speed-ups, slots and costs drawn per node."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from scheduler.base.checks import ModelError

if TYPE_CHECKING:
    import numpy as np

    from scheduler.model.network import Network, Node


@dataclass(frozen=True)
class NodeChoices:
    """Values among which every node draws one with equal chance; none means that nodes keep what they have.

    Attributes:
        speedup: S_u.
        slots: C_u of the resource "slots".
        cost: Price of one operator, in cost units.
    """

    speedup: tuple[float, ...] = ()
    slots: tuple[float, ...] = ()
    cost: tuple[float, ...] = ()


def heterogeneous(network: Network, choices: NodeChoices, random: np.random.Generator) -> Network:
    """Return the network with speed-ups, slots and costs drawn per node.

    Args:
        network: Delays, availabilities, sites and names stay as they are.
        choices: What to draw from.
        random: Source of chance.

    Raises:
        ModelError: A value is out of range for a node.
    """
    nodes = network.nodes
    for quantity, values in vars(choices).items():
        if values:
            drawn = random.choice(values, len(nodes)).tolist()
            nodes = tuple(_changed(node, quantity, value) for node, value in zip(nodes, drawn, strict=True))
    return replace(network, nodes=nodes)


def _changed(node: Node, quantity: str, value: float) -> Node:
    slots = {"capacity": {**node.capacity, "slots": value}}
    changes: dict[str, Any] = slots if quantity == "slots" else {quantity: value}
    return replace(node, **changes)


def roomy_node(network: Network, slots: float, random: np.random.Generator) -> str:
    """Return the name of a node drawn among those with enough slots, such as for source and sink.

    Args:
        network: The nodes.
        slots: Slots that it has to have.
        random: Source of chance.

    Raises:
        ModelError: No node has so many slots.
    """
    roomy = [node.name for node in network.nodes if node.capacity.get("slots", math.inf) >= slots]
    if not roomy:
        raise ModelError("slots", f"no node has the {slots:g} slots that source and sink take together")
    return roomy[int(random.integers(len(roomy)))]
