"""Rules of publishing, against a real ZooKeeper."""

from __future__ import annotations

import json
import math
import queue
import time
from typing import TYPE_CHECKING, Any

from formats.partners_reading import shard_of
from monitoring.reading import Address
from monitoring.zookeeper.publisher import Publisher, PublisherOptions
from tests.monitoring.zookeeper.publisher_peers import Peers, content

if TYPE_CHECKING:
    from collections.abc import Callable


def test_a_reading_appears_changes_and_goes_with_its_publisher(
    zookeeper: Any, nodes: Any, publisher: Callable[..., Any]
) -> None:
    one = publisher(zookeeper, "a")
    one.publish(content(1))
    nodes.wait("a", lambda reading: reading is not None and reading["number"] == 1)
    one.publish(content(2))
    nodes.wait("a", lambda reading: reading is not None and reading["number"] == 2)
    one.log.await_event("zookeeper-publishing")
    assert one.figures().writes >= 1
    assert one.figures().written_age_s >= 0
    assert nodes.client.exists(nodes.path("a")).ephemeralOwner != 0
    one.stop()
    assert nodes.client.exists(nodes.path("a")) is None


def test_peers_are_found_and_missed(
    zookeeper: Any, nodes: Any, publisher: Callable[..., Any], patience_s: float
) -> None:
    a, b = publisher(zookeeper, "a"), publisher(zookeeper, "b")
    a.publish(content(1, port=1))
    b.publish(content(1, port=2))
    a.peers.wait({"b": Address("10.0.0.1", 2)}, patience_s)
    b.peers.wait({"a": Address("10.0.0.1", 1)}, patience_s)
    b.stop()
    a.peers.wait({}, patience_s)
    assert nodes.client.get_children(nodes.folder) == ["a"]


def test_a_reading_that_cannot_be_read_is_named_once_and_left_out(
    zookeeper: Any, nodes: Any, publisher: Callable[..., Any], patience_s: float
) -> None:
    nodes.client.create(nodes.path("bad"), b"nonsense", makepath=True)
    one = publisher(zookeeper, "a")
    one.log.await_event("peer-unreadable")
    nodes.client.create(nodes.path("good"), content(1))  # makes it look at the whole list again
    one.peers.wait({"good": Address("10.0.0.1", 7091)}, patience_s)
    assert one.log.names().count("peer-unreadable") == 1


def test_the_address_of_a_suspect_peer_is_read_again(
    zookeeper: Any, nodes: Any, publisher: Callable[..., Any], patience_s: float
) -> None:
    nodes.client.create(nodes.path("b"), content(1, port=1), makepath=True)
    one = publisher(zookeeper, "a")
    one.peers.wait({"b": Address("10.0.0.1", 1)}, patience_s)
    nodes.client.set(nodes.path("b"), content(2, port=2))
    one.refresh("b")
    moved = {"b": Address("10.0.0.1", 2)}
    assert one.peers.wait(moved, patience_s) == moved


def test_a_znode_of_a_former_session_is_replaced_when_that_session_ends(
    zookeeper: Any, nodes: Any, publisher: Callable[..., Any]
) -> None:
    former = zookeeper.client()
    former.create(nodes.path("a"), content(0), ephemeral=True, makepath=True)
    one = publisher(zookeeper, "a")
    one.publish(content(1))
    one.log.await_event("zookeeper-held")
    assert json.loads(nodes.client.get(nodes.path("a"))[0])["number"] == 0
    former.stop()
    former.close()
    nodes.wait("a", lambda reading: reading is not None and reading["number"] == 1)
    assert one.log.names().count("zookeeper-held") == one.figures().changes["held"] == 1


def test_a_znode_removed_by_a_stranger_comes_back_with_the_next_reading(
    zookeeper: Any, nodes: Any, publisher: Callable[..., Any]
) -> None:
    one = publisher(zookeeper, "a")
    one.publish(content(1))
    nodes.wait("a", lambda reading: reading is not None)
    nodes.client.delete(nodes.path("a"))
    one.publish(content(2))
    back = nodes.wait("a", lambda reading: reading is not None and reading["number"] == 2)
    assert back["number"] == 2


def test_after_a_restart_of_an_emptied_zookeeper_readings_and_peers_are_there_again(
    no_zookeeper: Any, root: str, publisher: Callable[..., Any], patience_s: float
) -> None:
    no_zookeeper.start()
    a, b = publisher(no_zookeeper, "a"), publisher(no_zookeeper, "b")
    a.publish(content(1, port=1))
    b.publish(content(1, port=2))
    a.peers.wait({"b": Address("10.0.0.1", 2)}, patience_s)
    no_zookeeper.stop()
    for one in (a, b):
        one.log.await_event("zookeeper-suspended")
    no_zookeeper.wipe()  # the new server knows neither nodes nor sessions
    no_zookeeper.start()
    for one in (a, b):
        one.log.await_event("zookeeper-publishing", 2)
        changes = one.figures().changes
        for state, count in (("suspended", 1), ("lost", 1), ("publishing", 2)):
            assert one.log.names().count(f"zookeeper-{state}") == changes[state] == count
    a.peers.wait({"b": Address("10.0.0.1", 2)}, patience_s)
    client = no_zookeeper.client()
    assert sorted(client.get_children(f"{root}/nodes")) == ["a", "b"]
    client.stop()
    client.close()


def test_a_short_absence_of_zookeeper_costs_neither_session_nor_znode(
    no_zookeeper: Any, publisher: Callable[..., Any]
) -> None:
    no_zookeeper.start()
    one = publisher(no_zookeeper, "a", session_timeout_s=60.0)
    one.publish(content(1))
    one.log.await_event("zookeeper-publishing")
    no_zookeeper.stop()
    one.log.await_event("zookeeper-suspended")
    no_zookeeper.start()
    one.log.await_event("zookeeper-publishing", 2)
    assert one.log.names().count("zookeeper-suspended") == 1


def test_an_absent_zookeeper_is_logged_once_and_waited_for(
    no_zookeeper: Any, publisher: Callable[..., Any]
) -> None:
    one = publisher(no_zookeeper, "a", session_timeout_s=0.5)
    assert math.isnan(one.figures().written_age_s)
    one.publish(content(1))
    one.log.await_event("zookeeper-unreachable")
    no_zookeeper.start()
    one.log.await_event("zookeeper-publishing")
    assert one.log.names() == ["zookeeper-unreachable", "zookeeper-connected", "zookeeper-publishing"]
    assert one.figures().changes == {"unreachable": 1, "connected": 1, "publishing": 1}


def test_stopping_without_zookeeper_takes_no_longer_than_a_few_seconds(
    no_zookeeper: Any, make_log: Any
) -> None:
    one = Publisher(PublisherOptions(no_zookeeper.address, "/s", "a"), Peers(), queue.Queue().put, make_log())
    one.start()
    one.publish(content(1))
    began_s = time.monotonic()
    one.stop()
    assert time.monotonic() - began_s < 15


def test_partners_are_the_hosts_that_the_collector_names(
    zookeeper: Any, nodes: Any, root: str, publisher: Callable[..., Any], patience_s: float
) -> None:
    partners = {"version": 1, "lifetime_s": 180.0, "partners": {"a": ["c", "b"]}}
    folder = f"{root}/partners"
    nodes.client.create(f"{folder}/{shard_of('a')}", json.dumps(partners).encode(), makepath=True)
    nodes.client.create(f"{folder}/{shard_of('z')}", b"nonsense")
    one, other = publisher(zookeeper, "a"), publisher(zookeeper, "z")
    assert one.partners.get(timeout=patience_s) == ("c", "b")
    other.log.await_event("partners-unreadable")
    assert (one.unreadable()["partners"], other.unreadable()["partners"]) == (0, 1)


def test_a_large_cluster_is_known_by_name_and_a_sample_of_it_by_address(
    zookeeper: Any, nodes: Any, publisher: Callable[..., Any], patience_s: float
) -> None:
    nodes.client.ensure_path(nodes.folder)
    hosts = {f"h{number:03d}" for number in range(100)}
    transaction = nodes.client.transaction()
    for host in sorted(hosts):
        transaction.create(f"{nodes.folder}/{host}", content(1))
    assert not any(isinstance(result, Exception) for result in transaction.commit())
    one = publisher(zookeeper, "a")
    one.peers.wait_for(lambda listing: len(listing.addresses) == 64, patience_s)
    assert one.peers.listing.names == hosts
    assert set(one.peers.listing.addresses) < hosts
