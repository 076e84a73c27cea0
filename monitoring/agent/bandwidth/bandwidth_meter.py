"""The end of trains that sends: to one peer at a time, within its share."""

from __future__ import annotations

import math
import secrets
from collections import Counter
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from monitoring.agent.bandwidth.bandwidth_estimates import LEAST_TRAINS, BandwidthEstimates, train_rate
from monitoring.agent.bandwidth.byte_budget import ByteBudget
from monitoring.agent.bandwidth.train_messages import (
    LEAST_PACKETS,
    MOST_PACKETS,
    Ask,
    encode_ask,
    encode_train,
    talk_bytes,
    train_bytes,
)
from monitoring.agent.bandwidth.train_receiver import TIMEOUT_S
from monitoring.agent.bandwidth.train_targets import TrainTargets

if TYPE_CHECKING:
    from collections.abc import Mapping
    from random import Random

    from formats.log import Log
    from monitoring.agent.bandwidth.train_messages import Grant, Result
    from monitoring.agent.bandwidth.train_targets import Destination
    from monitoring.reading import Address, Link

CAUTIOUS_BYTES_PER_S = 125_000.0
"""What a path counts as before it was measured, and the most of which there is a share: 1 Mbit/s."""

LEAST_SHARE = 0.002
"""Of such a path a minute has room for the shortest train; of smaller shares it has not."""

_TRAIN_S = 0.1
"""Longest time that a train should take on its path, unless that is too narrow for the shortest train."""

_IDLE_S = 5.0
"""Time after which an agent without anything to send looks again: peers come and go."""

_LOOK_S = 0.5
"""Likewise while a train is under way."""


class TrainEnd(StrEnum):
    """How a train ended."""

    COUNTED = "counted"
    """It arrived whole and in order."""
    DISCARDED = "discarded"
    """It did not, or not within its time."""
    REFUSED = "refused"
    """The peer did not allow it: it knows no trains, or this agent not, or had one of another agent."""


@dataclass(frozen=True, slots=True)
class _UnderWay:
    """A train from its ask to its end; `bytes_per_s` is what there was a share of when it was asked for."""

    peer: str
    address: Address
    ask: Ask
    bytes_per_s: float
    until_s: float
    granted: bool = False


class BandwidthMeter:
    """Decides when which train goes where, and learns from what comes back.

    All times are s of one clock that does not go back.

    Attributes:
        ends: Trains by how they ended.
        sent_bytes: Of asks and trains, with IP headers and what peers send back for them.

    Args:
        share: Of the least bandwidth known, at most of `CAUTIOUS_BYTES_PER_S`, that may be sent.
        rng: Source of all choices.
        log: Takes one line per change of state.
    """

    def __init__(self, share: float, rng: Random, log: Log) -> None:
        self._log = log
        self._budget = ByteBudget(share)
        self._estimates = BandwidthEstimates()
        self._targets = TrainTargets(rng)
        self._under_way: _UnderWay | None = None
        self._known: frozenset[str] = frozenset()
        self._affordable = True
        self.ends: Counter[TrainEnd] = Counter()
        self.sent_bytes = 0

    def turn(self, peers: Mapping[str, Destination], now_s: float) -> tuple[bytes, Address] | None:
        """Ask for a train if one is due.

        Args:
            peers: Peers of other sites that can be reached.
            now_s: The time.

        Returns:
            The datagram that asks, and where to; None if nothing is due.
        """
        under_way = self._under_way
        if under_way is not None:
            if now_s < under_way.until_s:
                return None
            self._fail(under_way.peer, TrainEnd.DISCARDED if under_way.granted else TrainEnd.REFUSED, now_s)
        due = self._next(peers, now_s)
        if due is None or due[1] > now_s:
            return None
        peer, _ = due
        address, bytes_per_s = peers[peer].address, self._rate(now_s)
        ask = Ask(secrets.randbits(64), self._packets(peer, address.host, now_s))
        self._under_way = _UnderWay(peer, address, ask, bytes_per_s, now_s + TIMEOUT_S)
        self._charge(talk_bytes(address.host), bytes_per_s, now_s)
        return encode_ask(ask), address

    def wait_s(self, peers: Mapping[str, Destination], now_s: float) -> float:
        """Return after how long the next turn is due, s."""
        if self._under_way is not None:
            return _LOOK_S
        due = self._next(peers, now_s)
        return _IDLE_S if due is None else min(_IDLE_S, max(0.0, due[1] - now_s))

    def take_grant(self, grant: Grant, now_s: float) -> tuple[tuple[bytes, ...], Address]:
        """Send the train that a peer allows.

        Returns:
            Its packets, and where to.

        Raises:
            ValueError: With the reason, if no such train was asked for.
        """
        under_way = self._under_way
        if under_way is None or under_way.granted or now_s >= under_way.until_s:
            raise ValueError("a train is allowed that was not asked for")
        if (grant.nonce, grant.packets) != (under_way.ask.nonce, under_way.ask.packets):
            raise ValueError("another train is allowed than was asked for")
        self._under_way = replace(under_way, granted=True, until_s=now_s + TIMEOUT_S)
        size = train_bytes(grant.packets, under_way.address.host)
        self._charge(size, under_way.bytes_per_s, now_s)
        return encode_train(grant), under_way.address

    def take_result(self, result: Result, now_s: float) -> tuple[str, Address] | None:
        """Learn how a train arrived.

        Returns:
            The peer and its address; None if the train teaches nothing.

        Raises:
            ValueError: With the reason, if it is the result of no train under way.
        """
        under_way = self._under_way
        if under_way is None or not under_way.granted or now_s >= under_way.until_s:
            raise ValueError("result of no train under way")
        if (result.nonce, result.packets) != (under_way.ask.nonce, under_way.ask.packets):
            raise ValueError("result of another train than is under way")
        peer, address = under_way.peer, under_way.address
        whole = result.arrived == result.packets and result.disordered == 0
        if not whole or min(result.spread_ns, result.gap_ns) <= 0:
            self._fail(peer, TrainEnd.DISCARDED, now_s)
            return None
        bytes_per_s = train_rate(result, train_bytes(1, address.host))
        self._estimates.add(peer, bytes_per_s, now_s)
        self._targets.note_counted(peer, self._estimates.trains(peer, now_s), now_s)
        self._end(TrainEnd.COUNTED)
        estimate = self._estimates.look(peer, now_s)
        if estimate is not None and peer not in self._known:
            self._known |= {peer}
            self._log.info("bandwidth-known", peer=peer, bytes_per_s=round(estimate.bytes_per_s))
        return peer, address

    def add_to(self, links: Mapping[str, Link], now_s: float) -> dict[str, Link]:
        """Return links with the bandwidths that are known of them."""
        self._known &= {peer for peer in self._known if self._estimates.trains(peer, now_s) >= LEAST_TRAINS}
        return {
            peer: replace(link, bandwidth=self._estimates.look(peer, now_s)) for peer, link in links.items()
        }

    def _next(self, peers: Mapping[str, Destination], now_s: float) -> tuple[str, float] | None:
        """Name the peer of the next train and when it is due; infinite if there is no share for any."""
        chosen = self._targets.choose(now_s, peers, lambda peer: self._estimates.trains(peer, now_s))
        if chosen is None:
            return None
        peer, due_s = chosen
        host, bytes_per_s = peers[peer].address.host, self._rate(now_s)
        size = talk_bytes(host) + train_bytes(self._packets(peer, host, now_s), host)
        wait_s = self._budget.wait_s(size, bytes_per_s, now_s)
        if self._affordable != math.isfinite(wait_s):
            self._affordable = math.isfinite(wait_s)
            about = {"peer": peer, "bytes_per_s": round(bytes_per_s), "train_bytes": size}
            if self._affordable:
                self._log.info("trains-affordable", **about)
            else:
                self._log.warning("trains-unaffordable", **about)
        return peer, max(due_s, now_s + wait_s)

    def _rate(self, now_s: float) -> float:
        """Return the bandwidth of which there is a share, bytes/s."""
        lowest = self._estimates.lowest(now_s)
        return CAUTIOUS_BYTES_PER_S if lowest is None else min(CAUTIOUS_BYTES_PER_S, lowest)

    def _packets(self, peer: str, host: str, now_s: float) -> int:
        """Return the length of the next train: longer ones are exact where the path is wide."""
        if self._targets.failures(peer) > 0:
            return LEAST_PACKETS
        path = self._estimates.cautious(peer, now_s) or CAUTIOUS_BYTES_PER_S
        room = self._budget.minute_bytes(self._rate(now_s)) - talk_bytes(host)
        packets = int(min(_TRAIN_S * path, room) / train_bytes(1, host))
        return max(LEAST_PACKETS, min(MOST_PACKETS, packets))

    def _charge(self, size: int, bytes_per_s: float, now_s: float) -> None:
        self._budget.charge(size, bytes_per_s, now_s)
        self.sent_bytes += size

    def _fail(self, peer: str, end: TrainEnd, now_s: float) -> None:
        self._targets.note_failed(peer, now_s)
        self._end(end)

    def _end(self, end: TrainEnd) -> None:
        self.ends[end] += 1
        self._under_way = None
