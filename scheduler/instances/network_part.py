"""The part `network` of instance documents."""

from __future__ import annotations

from dataclasses import fields as fields_of
from typing import TYPE_CHECKING, Any

from scheduler.base.checks import ModelError, one_of, shown
from scheduler.instances.json_values import inside, json_array, json_items, json_object
from scheduler.model.constraints.link_bandwidth import BandwidthSum, LinkBandwidth
from scheduler.model.link_table import Coordinates
from scheduler.model.network import LINK_QUANTITIES, Network, Node, linked_network
from scheduler.model.underlay import UnderlayLink

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scheduler.model.constraints.constraint import Constraint

NODE_KEYS = tuple(field.name for field in fields_of(Node))
"""Keys of a node: those of the model, the two that have no default first."""
_DELAYS = ("delay_ms", "coordinates", "links")
"""What delays of a network may be given by."""
_SUMS: tuple[BandwidthSum, ...] = ("link", "pair")
NO_SUM = "none"
"""`bandwidth_sum` of a network whose bandwidths limit nothing."""


def read_network(given: object) -> tuple[Network, tuple[Constraint, ...]]:
    """Return the network, and the limits of its links."""
    path = "$.network"
    matrices = tuple(link.name for link in LINK_QUANTITIES)
    optional = (*_DELAYS, "bandwidth_sum", *matrices)
    entries = json_object(path, given, required=("nodes",), optional=optional)
    nodes = []
    for place, each in json_items(f"{path}.nodes", entries["nodes"]):
        fields = json_object(place, each, required=NODE_KEYS[:2], optional=NODE_KEYS[2:])
        json_object(f"{place}.capacity", fields["capacity"])
        if "holds" in fields:
            fields["holds"] = tuple(json_array(f"{place}.holds", fields["holds"]))
        with inside(place):
            nodes.append(Node(**fields))
    if sum(each in entries for each in _DELAYS) != 1:
        raise ModelError(path, f"expected one of {', '.join(map(shown, _DELAYS))}")
    if "links" in entries:
        return _linked(path, nodes, entries)
    if "bandwidth_sum" in entries:
        raise ModelError(f"{path}.bandwidth_sum", 'is of the bandwidth of "links", and there are none')
    if "coordinates" in entries:
        rows = json_array(f"{path}.coordinates", entries["coordinates"])
        if len(rows) != len(nodes):
            raise ModelError(
                f"{path}.coordinates", f"expected {len(nodes)} rows, one per node, got {len(rows)}"
            )
        with inside(f"{path}.coordinates"):
            delay = Coordinates.of(rows)
    else:
        delay = entries["delay_ms"]
    with inside(path):
        return Network(tuple(nodes), delay, **{name: entries.get(name) for name in matrices}), ()


def _linked(
    path: str, nodes: list[Node], entries: Mapping[str, Any]
) -> tuple[Network, tuple[Constraint, ...]]:
    """Return the network of links, and their limits."""
    for matrix in LINK_QUANTITIES:
        if matrix.name in entries:
            raise ModelError(f"{path}.{matrix.name}", 'is of pairs of nodes, and the network has "links"')
    links = []
    for place, each in json_items(f"{path}.links", entries["links"]):
        fields = json_object(
            place, each, required=("between",), optional=("cost", "delay_ms", "bandwidth_bytes_per_s")
        )
        fields["between"] = tuple(json_array(f"{place}.between", fields["between"]))
        with inside(place):
            links.append(UnderlayLink(**fields))
    total = entries.get("bandwidth_sum", LinkBandwidth.total)
    with inside(path):
        one_of("bandwidth_sum", total, (*_SUMS, NO_SUM))
        network = linked_network(nodes, links)
    limited = total != NO_SUM and any(link.bandwidth_bytes_per_s is not None for link in links)
    return network, (LinkBandwidth(total),) if limited else ()
