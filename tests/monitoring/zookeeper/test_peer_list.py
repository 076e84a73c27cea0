"""Which peers a list of readings gives."""

from __future__ import annotations

import random
import zlib
from typing import Any

import pytest

from monitoring.reading import Address
from monitoring.zookeeper.peer_list import Listing, PeerList


class Reply:
    """What ZooKeeper has answered."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def get(self, **_options: float) -> Any:
        return self._value


class Client:
    """A ZooKeeper with some readings."""

    def __init__(self, readings: dict[str, bytes | None]) -> None:
        self._readings = readings

    def get_children_async(self, _path: str, **_options: Any) -> Reply:
        return Reply(list(self._readings))

    def get_async(self, path: str) -> Reply:
        return Reply((self._readings[path.rpartition("/")[2]], None))


def looked(readings: dict[str, bytes | None], log: Any, *, loopback: bool = False) -> Listing:
    """The peers of host `a` after one look."""
    listings: list[Listing] = []
    peers = PeerList(
        folder="/s/nodes",
        host="a",
        pause_s=1.0,
        rng=random.Random(0),
        on_listing=listings.append,
        log=log,
        clock_s=lambda: 0.0,
        loopback=loopback,
    )
    peers.look_soon()
    peers.take_turn(Client(readings))
    return listings[-1]


GOOD = b'{"version": 1, "probe": "10.0.0.2:7091"}'
HOME = b'{"version": 1, "probe": "127.0.0.1:7091"}'


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(None, id="nothing"),
        pytest.param(b"", id="empty"),
        pytest.param(b"[" * 100_000, id="deep"),
        pytest.param(b'{"version": 1' + b"0" * 400 + b"}", id="huge"),
        pytest.param(b'{"version": 1, "probe": {"a": 1}}', id="object"),
        pytest.param(HOME, id="loopback"),
        pytest.param(zlib.compress(GOOD)[:-1], id="packed and cut"),
        pytest.param(b"xyz", id="packed and damaged"),
        pytest.param(zlib.compress(b"[" * 5_000_000), id="packed and too large"),
    ],
)
def test_a_malformed_reading_costs_only_itself(content: bytes | None, log: Any) -> None:
    listing = looked({"bad": content, "good": GOOD}, log)
    assert listing == Listing(frozenset({"bad", "good"}), {"good": Address("10.0.0.2", 7091)})
    assert log.names() == ["peer-unreadable"]


def test_sites_are_those_of_peers_that_name_one(log: Any) -> None:
    content = GOOD[:-1] + b', "site": "fog"}'
    listing = looked({"b": content, "c": GOOD, "bad": b'{"site": "fog"}'}, log)
    assert listing.sites == {"b": "fog"}


def test_why_a_peer_cannot_be_unpacked_is_logged(log: Any) -> None:
    looked({"bad": zlib.compress(b"[" * 5_000_000)}, log)
    reason = "packed content stands for more than 4194304 bytes"
    assert log.events == [("peer-unreadable", {"peer": "bad", "reason": reason})]


def test_a_packed_reading_is_read_as_its_text_is(log: Any) -> None:
    listing = looked({"packed": zlib.compress(GOOD)}, log)
    assert listing.addresses == {"packed": Address("10.0.0.2", 7091)}


def test_loopback_addresses_count_where_this_host_publishes_one(log: Any) -> None:
    listing = looked({"b": HOME}, log, loopback=True)
    assert listing.addresses == {"b": Address("127.0.0.1", 7091)}
