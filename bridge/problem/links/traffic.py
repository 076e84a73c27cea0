"""What one topology sends between sites, by where its executors run.

Flows follow measured rates and sizes of tuples as far as there are any; those to and from ends outside Storm
count too. Both directions count together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bridge.problem.component_flows import component_flows
from bridge.problem.links.terminals import terminals_of
from bridge.readings.rates import UNMEASURED
from scheduler.base.arrays import floats, ints

if TYPE_CHECKING:
    from bridge.network.site_links import SiteLinks
    from bridge.problem.component_flows import ComponentFlows
    from bridge.problem.links.terminals import Terminal
    from bridge.readings.rates import MeasuredRates
    from bridge.settings import PlanSettings
    from bridge.wire.messages import Topology
    from bridge.wishes.topology_settings import TopologySettings
    from scheduler.base.arrays import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Traffic:
    """What one topology sends between the few sites that it uses: sites may be thousands.

    Attributes:
        sites: (k,) these sites, ascending; the number of all sites stands for those that are not known.
        between: (k, k) bytes/s, both directions together, symmetric, 0 within a site.
    """

    sites: IntArray
    between: FloatArray

    def of_pairs(self, pairs: IntArray, n_sites: int) -> FloatArray:
        """(n_pairs,) bytes/s of pairs of sites, (n_pairs, 2)."""
        position = np.full(n_sites + 1, -1)
        position[self.sites] = np.arange(len(self.sites))
        one, other = position[pairs].T
        found = np.zeros(len(pairs))
        used = (one >= 0) & (other >= 0)
        found[used] = self.between[one[used], other[used]]
        return found

    def of_uplinks(self, n_sites: int) -> FloatArray:
        """(n_sites + 1,) bytes/s into and out of each site."""
        found = np.zeros(n_sites + 1)
        found[self.sites] = self.between.sum(axis=1)
        return found


NO_TRAFFIC = Traffic(ints([]), floats([]).reshape(0, 0))


class Sending(NamedTuple):
    """What one topology sends, wherever its executors run.

    Attributes:
        flows: Between components.
        terminals: To and from ends outside Storm.
    """

    flows: ComponentFlows
    terminals: tuple[Terminal, ...]


def sending(
    topology: Topology, own: TopologySettings, settings: PlanSettings, measured: MeasuredRates | None
) -> Sending:
    """Return what a topology sends.

    Args:
        topology: The topology.
        own: Its settings.
        settings: What holds where nothing is measured.
        measured: Its measured rates, None without any.
    """
    flows = component_flows(topology, settings, own.rates, measured or UNMEASURED, own.tuple_bytes)
    return Sending(flows, terminals_of(own, topology.component_names, flows))


def traffic(sending: Sending, site: IntArray, links: SiteLinks) -> Traffic:
    """Return what a topology sends between sites.

    What flows within a site is left out, and so is what executors without a slot would send.

    Args:
        sending: What it sends.
        site: (n_executors,) site of each executor, one more than the number of sites for none.
        links: Knows the sites.
    """
    flows, ends = sending.flows, [links.index(each.site) for each in sending.terminals]
    sites, place = np.unique(np.append(site, ends).astype(np.int64), return_inverse=True)
    own, outside, width = place[: len(site)], place[len(site) :].tolist(), len(sites)
    members = flows.layout.members
    total = np.zeros((width, width))
    for edge, flow, size in zip(flows.edges, flows.flows, flows.tuple_bytes.tolist(), strict=True):
        sent = np.bincount(own[members[edge.source]], flow.sent * size, width)
        total += np.outer(sent, np.bincount(own[members[edge.target]], flow.weight, width))
    for end, each in zip(outside, sending.terminals, strict=True):
        total[end] += np.bincount(own[each.members], each.rate * each.tuple_bytes, width)
    known = int(np.searchsorted(sites, len(links.names) + 1))
    placed = total[:known, :known]
    between = placed + placed.T
    np.fill_diagonal(between, 0.0)
    return Traffic(sites[:known], between)
