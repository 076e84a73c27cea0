"""Coordinates are believed only while they agree with directly measured delays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from bridge.network.links import Pairs
    from scheduler.base.arrays import FloatArray

# Fewer pairs say nothing about a whole network.
LEAST_PAIRS = 8
# Below this an error decides nothing: leaving a worker costs more.
_LEAST_DELAY_MS = 1.0


@dataclass(frozen=True, slots=True)
class Embedding:
    """How well coordinates agree with direct links.

    Attributes:
        pairs: Number of pairs of hosts with two coordinates and a fresh direct link.
        error: Median over them of |coordinates - link| / max(link, 1 ms), None without such pairs.
        trusted: False if the error is above its limit over enough pairs: no coordinate is used then.
    """

    pairs: int
    error: float | None
    trusted: bool


def judge_embedding(embedded_ms: FloatArray, links: Pairs, max_error: float) -> Embedding:
    """Compare coordinates with direct links.

    Args:
        embedded_ms: (n_hosts, n_hosts) delay by coordinates, NaN without two of them.
        links: Delays of the pairs with a fresh direct link, ms.
        max_error: Largest median relative error with which coordinates are used.
    """
    apart = relative_errors(embedded_ms, links)
    known = apart[~np.isnan(apart)]
    if not known.size:
        return Embedding(0, None, trusted=True)
    error = float(np.median(known))
    return Embedding(int(known.size), error, trusted=known.size < LEAST_PAIRS or error <= max_error)


def relative_errors(embedded_ms: FloatArray, links: Pairs) -> FloatArray:
    """Return (n_pairs,) |coordinates - link| / max(link, 1 ms), NaN without two coordinates."""
    apart = np.abs(embedded_ms[links.low, links.high] - links.value)
    return np.asarray(apart / np.maximum(links.value, _LEAST_DELAY_MS), dtype=np.float64)
