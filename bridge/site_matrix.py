"""Delays by pairs of sites: how far apart the hosts of two sites are, and how that is known."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING

import numpy as np

from bridge.delays import Provenance

if TYPE_CHECKING:
    from bridge.delays import Delays


@dataclass(frozen=True, slots=True)
class SiteCell:
    """The pairs of hosts of two sites, or within one.

    Attributes:
        sites: Both sites as indices, ascending.
        delay_ms: Median of the pairs that have the best source, ms, one way; None where there is no pair.
        source: The best source that any of the pairs has; None where there is no pair.
        pairs: Number of pairs that have it.
        all_pairs: Number of all pairs.
    """

    sites: tuple[int, int]
    delay_ms: float | None
    source: Provenance | None
    pairs: int
    all_pairs: int


def site_cells(delays: Delays) -> tuple[SiteCell, ...]:
    """Return one cell per pair of sites, in their order; index `n_sites` is for hosts without a site.

    A median over pairs of several sources would be a delay that nothing says: direct links alone count where
    there are any, and so on.
    """
    members = [np.flatnonzero(delays.site == index) for index in range(delays.n_sites + 1)]
    present = [index for index, hosts in enumerate(members) if hosts.size]
    cells = []
    for one, other in combinations_with_replacement(present, 2):
        block = np.ix_(members[one], members[other])
        delay, source = delays.delay_ms[block], delays.provenance[block]
        if one == other:
            upper = np.triu_indices(len(members[one]), 1)
            delay, source = delay[upper], source[upper]
        if not delay.size:
            cells.append(SiteCell((one, other), None, None, 0, 0))
            continue
        best = source.min()
        chosen = delay[source == best]
        cells.append(
            SiteCell(
                (one, other),
                float(np.median(chosen)),
                Provenance(int(best)),
                int(chosen.size),
                int(delay.size),
            )
        )
    return tuple(cells)
