"""Links of limited bandwidth that packets pass one after the other, and what has passed them.

A packet is on a link for its size over the bandwidth, and waits until what came before is through, whichever
its direction: both share the bandwidth, as in plans (paper 002, eq. 3). What would wait too long is dropped.
All links of a way are passed where the packet is sent, before its delay. So the first limited link of a way
sees packets in the order of time; a second one sees them as early as they were sent, and lets a packet wait
for what is still on another way's first one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class NarrowLink:
    """A link.

    Attributes:
        name: As reports have it.
        sites: Indexes of its two sites, the same twice between hosts of one; of one site alone it is the
            uplink that all its packets to and from others pass.
        bytes_per_s: Of both directions together; infinite: packets are counted only.
    """

    name: str
    sites: tuple[int, ...]
    bytes_per_s: float


@dataclass
class LinkTraffic:
    """What a link has had since the start.

    Attributes:
        name: That of the link.
        packets: Those that passed.
        bytes: Their sizes together.
        dropped: Packets that would have waited too long.
    """

    name: str
    packets: int = 0
    bytes: int = 0
    dropped: int = 0


class NarrowLinks:
    """All links of a wide area.

    Attributes:
        traffic: By link, in their order.

    Args:
        links: The links.
        longest_wait_s: Longest wait before a link, s.
    """

    def __init__(self, links: Sequence[NarrowLink], longest_wait_s: float) -> None:
        self.traffic = [LinkTraffic(link.name) for link in links]
        self._bytes_per_s = [link.bytes_per_s for link in links]
        self._free_s = [0.0] * len(links)
        self._longest_wait_s = longest_wait_s
        self._uplink = {link.sites[0]: k for k, link in enumerate(links) if len(link.sites) == 1}
        self._between = {frozenset(link.sites): k for k, link in enumerate(links) if len(link.sites) == 2}
        self._ways: dict[tuple[int, int], tuple[int, ...]] = {}

    def through_s(self, source: int, target: int, size: int, now_s: float) -> float | None:
        """Let a packet pass all links between two sites, and return when it is through; None: it is dropped.

        Args:
            source: Index of its site.
            target: Index of the site it goes to.
            size: Its bytes.
            now_s: When it is sent; never before that of an earlier call.
        """
        way = self._ways.get((source, target))
        if way is None:
            way = self._ways[source, target] = self._way(source, target)
        for k in way:
            traffic = self.traffic[k]
            # nobody waits where there is no limit, least of all for what is still on a narrow link before it
            if math.isfinite(self._bytes_per_s[k]):
                begin_s = max(now_s, self._free_s[k])
                if begin_s - now_s > self._longest_wait_s:
                    traffic.dropped += 1
                    return None
                now_s = self._free_s[k] = begin_s + size / self._bytes_per_s[k]
            traffic.packets += 1
            traffic.bytes += size
        return now_s

    def _way(self, source: int, target: int) -> tuple[int, ...]:
        between = self._between.get(frozenset((source, target)))
        ends = (None, None) if source == target else (self._uplink.get(source), self._uplink.get(target))
        return tuple(link for link in (ends[0], between, ends[1]) if link is not None)
