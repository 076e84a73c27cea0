"""Two agents and the path between them, on a scripted clock."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from monitoring.agent.bandwidth.bandwidth_meter import BandwidthMeter
from monitoring.agent.bandwidth.train_messages import Packet, decode, headers_bytes
from monitoring.agent.bandwidth.train_targets import Destination
from monitoring.agent.bandwidth.trains import Trains
from monitoring.agent.probe import Malformed
from monitoring.reading import Address

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from formats.log import Log
    from monitoring.agent.bandwidth.trains import Outgoing

HERE = ("10.0.0.1", 7091)


class Path:
    """What a peer is behind: a rate in bytes/s with headers, and positions of packets that are lost."""

    def __init__(self, bytes_per_s: float, lost: Callable[[], bool] = lambda: False) -> None:
        self.bytes_per_s = bytes_per_s
        self.lost = lost
        self.peer = Trains(lambda host: host == HERE[0], lambda _peer, _address: None, None)


class Scene:
    """An agent with a share of bandwidth, and peers of other sites; a path that is None answers nothing."""

    def __init__(self, share: float, paths: Mapping[str, Path | None], log: Log) -> None:
        self.now_s = 0.0
        self.measured: list[str] = []
        self.sent: list[tuple[float, int]] = []
        """When so many bytes left for the peers or came back from them, with headers."""
        self.meter = BandwidthMeter(share, random.Random(1), log)
        self._trains = Trains(
            lambda _host: False, lambda peer, _address: self.measured.append(peer), self.meter
        )
        self._peers = {
            peer: Destination(peer, Address(f"10.0.1.{number}", 7091)) for number, peer in enumerate(paths)
        }
        self._paths = {(f"10.0.1.{number}", 7091): path for number, path in enumerate(paths.values())}

    def run(self, until_s: float) -> None:
        """Take turns until a time."""
        while self.now_s < until_s:
            asked = self.meter.turn(self._peers, self.now_s)
            if asked is not None:
                datagram, address = asked
                self._carry(datagram, (address.host, address.port))
            self.now_s += max(1e-6, self.meter.wait_s(self._peers, self.now_s))

    def busiest_minute(self) -> int:
        """Return the bytes of the minute that has most of them."""
        return max(
            sum(size for at_s, size in self.sent if at_s <= end_s < at_s + 60) for end_s, _ in self.sent
        )

    def _carry(self, datagram: bytes, target: tuple[str, int]) -> None:
        self._note(datagram)
        path = self._paths[target]
        if path is not None:
            self._come_back(path, path.peer.take(datagram, HERE, 0, self.now_s), target)

    def _come_back(
        self,
        path: Path,
        answers: tuple[Outgoing, ...] | Malformed,
        peer: tuple[str, int],
    ) -> None:
        assert not isinstance(answers, Malformed), answers
        for answer, to in answers:
            assert to == HERE
            self._note(answer)
            packets = self._trains.take(answer, peer, 0, self.now_s)
            assert not isinstance(packets, Malformed), packets
            self._pass(path, packets, peer)

    def _pass(self, path: Path, packets: tuple[Outgoing, ...], peer: tuple[str, int]) -> None:
        arrived_s = self.now_s
        for packet, to in packets:
            assert to == peer
            assert isinstance(decode(packet), Packet)
            self._note(packet)
            arrived_s += (len(packet) + headers_bytes(peer[0])) / path.bytes_per_s
            if not path.lost():
                answers = path.peer.take(packet, HERE, round(arrived_s * 1e9), self.now_s)
                self._come_back(path, answers, peer)

    def _note(self, datagram: bytes) -> None:
        self.sent.append((self.now_s, len(datagram) + headers_bytes(HERE[0])))
