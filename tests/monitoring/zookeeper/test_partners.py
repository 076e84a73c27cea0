"""Rules of partners: who exchanges tuples with this host."""

from __future__ import annotations

import json
import random
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from kazoo.exceptions import NoAuthError, NoNodeError

from monitoring.zookeeper.partners import PartnerFinder, pair_rates
from monitoring.zookeeper.peer_list import Listing, PeerList

if TYPE_CHECKING:
    from collections.abc import Callable


def rates(*pairs: Any, lifetime_s: float = 180.0) -> bytes:
    """Return a reading of rates."""
    return json.dumps({"version": 1, "lifetime_s": lifetime_s, "host_pairs": pairs}).encode()


def test_a_reading_of_rates_without_pairs_names_no_partner() -> None:
    assert pair_rates(b'{"version": 1, "lifetime_s": 180.0, "streams": []}') == (180.0, ())


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"{", "not JSON"),
        (None, "not JSON: no content"),
        pytest.param(b"[" * 100_000, "not JSON of a sensible depth", id="deep"),
        pytest.param(
            b'{"version": ' + b"[" * 500 + b"]" * 500 + b"}", "version a list instead of 1", id="version"
        ),
        (b"[]", "not a JSON object"),
        (b"{}", "version None"),
        (b'{"version": 2, "host_pairs": []}', "version 2 instead of 1"),
        (b'{"version": 1, "lifetime_s": 180, "host_pairs": {}}', "not a list"),
        (b'{"version": 1, "host_pairs": []}', "lifetime_s is no time"),
        (b'{"version": 1, "lifetime_s": 0, "host_pairs": []}', "lifetime_s is no time"),
        (b'{"version": 1, "lifetime_s": "180", "host_pairs": []}', "lifetime_s is no time"),
    ],
)
def test_what_is_no_reading_of_rates_is_refused_with_the_reason(content: bytes | None, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        pair_rates(content)


@pytest.mark.parametrize(
    "pair",
    [
        ["a", "b"],
        ["a", 5, 1.0],
        ["a", "b", "1"],
        ["a", "b", True],
        ["a", "b", -1.0],
        ["a", "b", float("nan")],
        ["a", "b", 10**400],
        "ab1",
    ],
)
def test_an_impossible_pair_is_named_by_its_place(pair: Any) -> None:
    content = rates(["a", "b", 1.0], pair)
    with pytest.raises(ValueError, match=r"host_pairs\[1\]"):
        pair_rates(content)


class Reply:
    """An answer that is there already."""

    def __init__(self, answer: Any) -> None:
        self._answer = answer

    def get(self, timeout: float) -> Any:
        assert timeout > 0
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer


class Client:
    """A connection to a ZooKeeper with one folder; readings are what was written last, or an error."""

    def __init__(self) -> None:
        self.closed = False
        self.readings: dict[str, bytes | Exception] = {}
        self.transactions: dict[str, int] = {}
        self.watch: Callable[[Any], None] | None = None

    def write(self, name: str, content: bytes | Exception) -> None:
        self.readings[name] = content
        self.transactions[name] = sum(self.transactions.values()) + 1

    def get_children_async(self, _path: str, watch: Callable[[Any], None] | None = None) -> Reply:
        if self.closed:
            return Reply(NoAuthError())
        self.watch = watch
        return Reply(list(self.readings) if self.readings else NoNodeError())

    def get_async(self, path: str) -> Reply:
        name = path.rpartition("/")[2]
        content = self.readings.get(name, NoNodeError())
        if isinstance(content, Exception):
            return Reply(content)
        return Reply((content, SimpleNamespace(mzxid=self.transactions[name])))


class Scene:
    """A finder of host `a` that looks about each minute."""

    def __init__(self, clock: Any, log: Any) -> None:
        self.clock, self.log, self.client = clock, log, Client()
        self.reported: list[tuple[str, ...]] = []
        self.finder = PartnerFinder(
            folder="/s/rates",
            host="a",
            pause_s=60.0,
            rng=random.Random(0),
            on_partners=self.reported.append,
            log=log,
            clock_s=clock,
        )

    def look(self) -> None:
        """Let so much time pass that a look is due, and take it."""
        self.clock.now_s += 75.0
        self.finder.take_turn(self.client)


@pytest.fixture
def scene(fake_clock: Any, log: Any) -> Scene:
    return Scene(fake_clock, log)


def test_partners_are_reported_when_they_are_others_and_not_in_another_order(scene: Scene) -> None:
    for first, second in ((5.0, 4.9), (4.9, 5.0), (5.1, 4.8)):
        scene.client.write("t-1", rates(["a", "b", first], ["a", "c", second]))
        scene.look()
    assert scene.reported == [("b", "c")]
    scene.client.write("t-1", rates(["a", "d", 1.0], ["a", "b", 5.0]))
    scene.look()
    assert scene.reported == [("b", "c"), ("b", "d")]


def test_a_reading_that_is_not_written_anew_counts_for_its_lifetime(scene: Scene) -> None:
    """A collector that stands still keeps its znodes: its session lives on."""
    scene.client.write("t-1", rates(["a", "b", 1.0], lifetime_s=180.0))
    scene.client.write("t-2", rates(["a", "c", 9.0], lifetime_s=1e6))
    for _ in range(3):  # 0, 75 and 150 s old
        scene.look()
    assert scene.reported == [("c", "b")]
    scene.look()
    scene.look()
    assert scene.reported == [("c", "b"), ("c",)]
    assert scene.log.events == [
        ("rates-unreadable", {"topology": "t-1", "reason": "older than its lifetime of 180 s"})
    ]
    assert scene.finder.unreadable == 2
    scene.client.write("t-1", rates(["a", "b", 1.0], lifetime_s=180.0))  # the same words, anew
    scene.look()
    assert scene.reported[-1] == ("c", "b")


def test_an_old_reading_is_named_again_after_a_fresh_one(scene: Scene) -> None:
    for number in range(2):
        scene.client.write("t-1", rates(["a", "b", 1.0 + number], lifetime_s=60.0))
        for _ in range(3):
            scene.look()
    assert scene.log.names() == ["rates-unreadable"] * 2


def test_a_folder_that_is_closed_is_logged_once_and_counts_as_empty(scene: Scene) -> None:
    scene.client.write("t-1", rates(["a", "b", 1.0]))
    scene.look()
    scene.client.closed = True
    for _ in range(5):
        scene.look()
    ((event, fields),) = scene.log.events
    assert (event, fields["path"]) == ("folder-unreadable", "/s/rates")
    assert "--zookeeper-auth-file" in fields["reason"]
    assert scene.reported == [("b",), ()]
    assert scene.finder.unreadable == 5
    scene.client.closed = False
    scene.look()
    assert scene.log.names() == ["folder-unreadable", "folder-readable-again"]
    assert scene.reported[-1] == ("b",)


def test_a_topology_that_ended_leaves_no_partners(scene: Scene) -> None:
    scene.client.write("t-1", rates(["a", "b", 1.0]))
    scene.look()
    del scene.client.readings["t-1"]
    scene.look()
    assert scene.reported == [("b",), ()]
    assert scene.log.events == []


def test_a_closed_list_of_peers_is_logged_once_and_tried_on(fake_clock: Any, log: Any) -> None:
    """It looks again by itself."""
    client, reported = Client(), list[Listing]()
    client.write("b", b'{"version": 1, "probe": "10.0.0.1:7091"}')
    peers = PeerList(
        folder="/s/nodes",
        host="a",
        pause_s=1.0,
        rng=random.Random(0),
        on_listing=reported.append,
        log=log,
        clock_s=fake_clock,
    )
    peers.look_soon()
    for closed in (True, True, True, False):
        client.closed, client.watch = closed, None
        fake_clock.now_s += 2.0
        peers.take_turn(client)
    assert [listing.names for listing in reported] == [{"b"}]
    assert log.names() == ["folder-unreadable", "folder-readable-again"]
    assert peers.unreadable == 3
    assert client.watch is not None
