"""How far estimated delays are off: what is measured twice differs by its errors.

Both ends of a link measure the same path, and coordinates stand beside links where there are both.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bridge.network.embedding import LEAST_PAIRS, relative_errors

if TYPE_CHECKING:
    from bridge.network.links import Links
    from scheduler.base.arrays import FloatArray

_TO_DEVIATION = 1.4826
"""Standard deviation of a normal error by the median of its absolute value."""


@dataclass(frozen=True, slots=True)
class DelayErrors:
    """Standard errors as fractions of the delay; 0 where nothing says how far it is off.

    Attributes:
        of_links: Of delays of fresh direct links.
        of_others: Of delays by coordinates, or by the median between two sites.
    """

    of_links: float
    of_others: float


def estimate_errors(levelled_ms: FloatArray, links: Links, own: float | None) -> DelayErrors:
    """Work out both errors; medians, since a few pairs on another path say nothing of all.

    Args:
        levelled_ms: (n_hosts, n_hosts) delay by coordinates at the level of links, NaN without coordinates.
        links: Direct links.
        own: Median relative error that hosts estimate of their coordinates, where links are too few; None
            without.
    """
    apart = links.disagreement
    of_links = _TO_DEVIATION * float(np.median(apart)) / math.sqrt(2.0) if apart.size >= LEAST_PAIRS else 0.0
    beside = relative_errors(levelled_ms, links.delays)
    beside = beside[~np.isnan(beside)]
    if beside.size >= LEAST_PAIRS:
        return DelayErrors(of_links, _TO_DEVIATION * float(np.median(beside)))
    return DelayErrors(of_links, 0.0 if own is None else own)
