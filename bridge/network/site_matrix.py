"""Delays between sites are medians over their hosts, shown with the best source that these have."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING

import numpy as np

from bridge.network.delays import Provenance
from bridge.network.site_medians import medians_by_group, site_pairs

if TYPE_CHECKING:
    from bridge.network.delays import Delays


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
    width = delays.n_sites + 1
    upper = np.triu(np.ones(delays.delay_ms.shape, dtype=np.bool_), 1)
    group = site_pairs(delays.site, width)[upper]
    delay, source = delays.delay_ms[upper], delays.provenance[upper]
    best = np.full(width * width, len(Provenance), dtype=source.dtype)
    np.minimum.at(best, group, source)
    chosen = source == best[group]
    of, medians = medians_by_group(delay[chosen], group[chosen])
    median = dict(zip(of.tolist(), medians.tolist(), strict=True))
    pairs = np.bincount(group[chosen], minlength=width * width).tolist()
    all_pairs = np.bincount(group, minlength=width * width).tolist()
    cells = []
    for one, other in combinations_with_replacement(np.unique(delays.site).tolist(), 2):
        number = one * width + other
        known = Provenance(int(best[number])) if all_pairs[number] else None
        cells.append(SiteCell((one, other), median.get(number), known, pairs[number], all_pairs[number]))
    return tuple(cells)
