"""A bandwidth that agents measured holds for a while after their last word of it.

An agent that begins anew measures for a minute or two before it says anything. Without a limit in the
meantime topologies would move over a narrow way, and back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bridge.round.memory import MeasuredWay

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bridge.round.memory import Memory

KEPT_S = 1_800.0
"""Time after which a bandwidth that is measured no more is forgotten: that of an agent's trains."""


def recalled(memory: Memory, now_s: float) -> dict[frozenset[str], float]:
    """Return bandwidths of earlier rounds that still count, bytes/s, by the names of two sites.

    Args:
        memory: What the round before handed on.
        now_s: Time of the round on the clock of the memory, s.
    """
    return {
        frozenset(each.between): each.bytes_per_s
        for each in memory.ways
        if 0.0 <= now_s - each.time_s < KEPT_S
    }


def remember(
    memory: Memory, measured: Mapping[frozenset[str], float], now_s: float
) -> tuple[MeasuredWay, ...]:
    """Return what the next round has to know, in the order of the sites' names.

    Args:
        memory: What the round before handed on.
        measured: What agents say in this round, bytes/s.
        now_s: Time of the round, s.
    """
    times = {frozenset(each.between): each.time_s for each in memory.ways}
    ways = {
        **{sites: (value, times[sites]) for sites, value in recalled(memory, now_s).items()},
        **{sites: (value, now_s) for sites, value in measured.items()},
    }
    named = sorted((min(sites), max(sites), *way) for sites, way in ways.items())
    return tuple(MeasuredWay((one, other), value, time_s) for one, other, value, time_s in named)
