"""Works out and publishes which hosts exchange most tuples with which, over all topologies."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from formats.partners_reading import LIFETIME_S, VERSION, shard_of
from monitoring.host_pairs import busiest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from formats.partners_reading import PartnersFields
    from monitoring.zookeeper.session import Session

REFRESH_S = 60.0
"""Age at which a shard is written anew although it holds the same: agents must see that it is kept up."""


@dataclass(frozen=True, slots=True)
class _Published:
    """A shard: each host's partners as a set, as noise changes their order, and when it was written, s."""

    partners: Mapping[str, frozenset[str]]
    at_s: float


class PartnerShards:
    """Publishes the partners of all hosts.

    It knows each host's partners so far: one stays until another is busier by a quarter.

    Args:
        nodes: Holds the znodes in ZooKeeper.
        folder: Their folder.
    """

    def __init__(self, nodes: Session, folder: str) -> None:
        self._nodes = nodes
        self._folder = folder
        self._partners: dict[str, tuple[str, ...]] = {}
        self._published: dict[str, _Published] = {}

    def update(self, pairs: Iterable[tuple[str, str, float]], now_s: float, time_s: float) -> None:
        """Publish what has changed, and what has not been written for a while.

        Args:
            pairs: Two hosts each and the tuples/s between them; pairs may occur for several topologies.
            now_s: Time, s of a clock that does not go back.
            time_s: Unix time, s.
        """
        own: defaultdict[str, list[tuple[str, str, float]]] = defaultdict(list)
        for pair in pairs:
            own[pair[0]].append(pair)
            own[pair[1]].append(pair)
        self._partners = {
            host: busiest(host, of_host, self._partners.get(host, ())) for host, of_host in own.items()
        }
        shards: defaultdict[str, dict[str, tuple[str, ...]]] = defaultdict(dict)
        for host, partners in sorted(self._partners.items()):
            shards[shard_of(host)][host] = partners
        for shard in self._published.keys() - shards.keys():
            self._nodes.release(f"{self._folder}/{shard}")
            del self._published[shard]
        for shard, partners_by_host in shards.items():
            self._publish(shard, partners_by_host, now_s, time_s)

    def _publish(
        self, shard: str, partners: Mapping[str, tuple[str, ...]], now_s: float, time_s: float
    ) -> None:
        sets = {host: frozenset(names) for host, names in partners.items()}
        former = self._published.get(shard)
        if former is not None and former.partners == sets and now_s - former.at_s < REFRESH_S:
            return
        self._published[shard] = _Published(sets, now_s)
        content: PartnersFields = {
            "version": VERSION,
            "time": round(time_s, 3),
            "lifetime_s": LIFETIME_S,
            "partners": {host: list(names) for host, names in partners.items()},
        }
        self._nodes.hold(f"{self._folder}/{shard}", json.dumps(content, separators=(",", ":")).encode())
