"""Rules of partners: who exchanges tuples with this host."""

from __future__ import annotations

import json
import random
import zlib
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from kazoo.exceptions import NoAuthError, NoNodeError

from formats.partners_reading import shard_of
from monitoring.zookeeper.partners import PartnerFinder, partners_of
from monitoring.zookeeper.peer_list import Listing, PeerList

if TYPE_CHECKING:
    from collections.abc import Callable


SHARD = shard_of("a")


def shard(*partners: Any, lifetime_s: float = 180.0) -> bytes:
    """Return a reading that says who the partners of host `a` are."""
    by_host = {"a": partners, "b": ["a"]}
    return json.dumps({"version": 1, "lifetime_s": lifetime_s, "partners": by_host}).encode()


def test_a_host_that_a_reading_does_not_name_has_no_partners() -> None:
    assert partners_of("z", shard("b")) == (180.0, ())
    assert partners_of("a", shard("c", "b")) == (180.0, ("c", "b"))


def test_whatever_is_published_a_host_has_eight_partners_at_most_and_is_none_itself() -> None:
    names = ["a", *(f"p{number}" for number in range(20))]
    assert partners_of("a", shard(*names))[1] == tuple(names[1:9])


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
        (b'{"version": 2, "partners": {}}', "version 2 instead of 1"),
        (b'{"version": 1, "lifetime_s": 180, "partners": []}', "partners is not an object"),
        (b'{"version": 1, "lifetime_s": 180}', "partners is not an object"),
        (b'{"version": 1, "lifetime_s": 180, "partners": {"a": "bc"}}', "partners of 'a' is not a list"),
        (b'{"version": 1, "lifetime_s": 180, "partners": {"a": ["b", 5]}}', "partners of 'a' are not all"),
        (b'{"version": 1, "partners": {}}', "lifetime_s is no time"),
        (b'{"version": 1, "lifetime_s": 0, "partners": {}}', "lifetime_s is no time"),
        (b'{"version": 1, "lifetime_s": "180", "partners": {}}', "lifetime_s is no time"),
    ],
)
def test_what_is_no_reading_of_partners_is_refused_with_the_reason(content: bytes | None, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        partners_of("a", content)


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
            folder="/s/partners",
            host="a",
            pause_s=60.0,
            rng=random.Random(0),
            on_partners=self.reported.append,
            log=log,
            clock_s=clock,
        )

    def publish(self, content: bytes | Exception) -> None:
        self.client.write(SHARD, content)

    def look(self) -> None:
        """Let so much time pass that a look is due, and take it."""
        self.clock.now_s += 75.0
        self.finder.take_turn(self.client)


@pytest.fixture
def scene(fake_clock: Any, log: Any) -> Scene:
    return Scene(fake_clock, log)


def test_partners_are_reported_when_they_are_others_and_not_in_another_order(scene: Scene) -> None:
    for partners in (("b", "c"), ("c", "b"), ("b", "c")):
        scene.publish(shard(*partners))
        scene.look()
    assert scene.reported == [("b", "c")]
    scene.publish(shard("b", "d"))
    scene.look()
    assert scene.reported == [("b", "c"), ("b", "d")]


def test_a_packed_shard_is_read_and_one_that_cannot_be_unpacked_is_named(scene: Scene) -> None:
    """Without a shard that can be read there are no partners."""
    packed = zlib.compress(shard("b", "c"))
    for content in (packed, packed[:-1]):
        scene.publish(content)
        scene.look()
    assert scene.reported == [("b", "c"), ()]
    reason = "packed content ends too early"
    assert scene.log.events == [("partners-unreadable", {"shard": SHARD, "reason": reason})]


def test_a_reading_that_is_not_written_anew_counts_for_its_lifetime(scene: Scene) -> None:
    """A collector that stands still keeps its znodes: its session lives on."""
    scene.publish(shard("b", lifetime_s=180.0))
    for _ in range(3):  # 0, 75 and 150 s old
        scene.look()
    assert scene.reported == [("b",)]
    scene.look()
    scene.look()
    assert scene.reported == [("b",), ()]
    assert scene.log.events == [
        ("partners-unreadable", {"shard": SHARD, "reason": "older than its lifetime of 180 s"})
    ]
    assert scene.finder.unreadable == 2
    scene.publish(shard("b", lifetime_s=180.0))  # the same words, anew
    scene.look()
    assert scene.reported[-1] == ("b",)


def test_an_old_reading_is_named_again_after_a_fresh_one(scene: Scene) -> None:
    for partner in "bc":
        scene.publish(shard(partner, lifetime_s=60.0))
        for _ in range(3):
            scene.look()
    assert scene.log.names() == ["partners-unreadable"] * 2


def test_a_reading_under_another_login_is_logged_once_and_tried_on(scene: Scene) -> None:
    scene.publish(shard("b"))
    scene.look()
    scene.publish(NoAuthError())
    for _ in range(5):
        scene.look()
    ((event, fields),) = scene.log.events
    assert (event, fields["shard"]) == ("partners-unreadable", SHARD)
    assert "other credentials" in fields["reason"]
    assert scene.reported == [("b",), ()]
    assert scene.finder.unreadable == 5
    scene.publish(shard("b"))
    scene.look()
    assert scene.reported[-1] == ("b",)


def test_without_a_reading_there_are_no_partners_and_nothing_to_log(scene: Scene) -> None:
    """No collector, and one that has removed it: the topologies ended."""
    scene.look()
    assert scene.reported == []
    scene.publish(shard("b"))
    scene.look()
    del scene.client.readings[SHARD]
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
