"""Rules of publishing with credentials, against a real ZooKeeper."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from kazoo.exceptions import NoAuthError
from kazoo.security import make_digest_acl

from monitoring.reading import Address
from monitoring.zookeeper.access import ZookeeperAuth
from tests.monitoring.zookeeper.publisher_peers import content

if TYPE_CHECKING:
    from collections.abc import Callable

ALICE, BOB = ZookeeperAuth("stormplace", "right"), ZookeeperAuth("stormplace", "wrong")


def test_with_credentials_no_other_user_reads_or_changes_a_reading(
    zookeeper: Any, nodes: Any, publisher: Callable[..., Any]
) -> None:
    one = publisher(zookeeper, "a", auth=ALICE)
    one.publish(content(1))
    one.log.await_event("zookeeper-publishing")
    with pytest.raises(NoAuthError):
        nodes.client.get(nodes.path("a"))
    with pytest.raises(NoAuthError):
        nodes.client.set(nodes.path("a"), b"")
    with pytest.raises(NoAuthError):
        nodes.client.create(nodes.path("forged"), b"")
    nodes.client.add_auth("digest", "stormplace:right")
    assert json.loads(nodes.client.get(nodes.path("a"))[0])["number"] == 1
    assert "zookeeper-open" not in one.log.names()


def test_agents_with_the_same_credentials_find_each_other(
    zookeeper: Any, publisher: Callable[..., Any], patience_s: float
) -> None:
    a, b = (publisher(zookeeper, host, auth=ALICE) for host in "ab")
    a.publish(content(1, port=1))
    b.publish(content(1, port=2))
    other = {"b": Address("10.0.0.1", 2)}
    assert a.peers.wait(other, patience_s) == other


def test_a_wrong_password_is_logged_once_and_tried_on_until_it_is_right(
    zookeeper: Any, nodes: Any, publisher: Callable[..., Any]
) -> None:
    first = publisher(zookeeper, "a", auth=ALICE)
    first.publish(content(1))
    first.log.await_event("zookeeper-publishing")
    stranger = publisher(zookeeper, "b", auth=BOB)
    stranger.publish(content(1))
    stranger.log.await_event("zookeeper-refusing")
    reason = dict(stranger.log.events)["zookeeper-refusing"]["reason"]
    assert "--zookeeper-auth-file" in reason
    stranger.log.await_event("folder-unreadable")
    nodes.client.add_auth("digest", "stormplace:right")
    nodes.client.set_acls(nodes.folder, [make_digest_acl("stormplace", "wrong", all=True)])
    stranger.log.await_event("zookeeper-publishing")
    assert stranger.log.names().count("zookeeper-refusing") == 1
    stranger.log.await_event("folder-readable-again")


def test_a_folder_that_was_made_open_is_logged_once(
    zookeeper: Any, nodes: Any, publisher: Callable[..., Any]
) -> None:
    nodes.client.ensure_path(nodes.folder)
    one = publisher(zookeeper, "a", auth=ALICE)
    for number in (1, 2):
        one.publish(content(number))
        one.log.await_event("zookeeper-publishing")
    one.log.await_event("zookeeper-open")
    assert one.log.names().count("zookeeper-open") == 1


def test_a_reading_with_other_credentials_costs_only_itself(
    zookeeper: Any, nodes: Any, publisher: Callable[..., Any], patience_s: float
) -> None:
    nodes.client.ensure_path(nodes.folder)
    nodes.client.create(nodes.path("foreign"), content(1), acl=[make_digest_acl("x", "y", all=True)])
    nodes.client.create(nodes.path("good"), content(1, port=1))
    one = publisher(zookeeper, "a")
    one.peers.wait({"good": Address("10.0.0.1", 1)}, patience_s)
    assert "no access" in dict(one.log.events)["peer-unreadable"]["reason"]
    assert one.unreadable() == {"peer": 1, "partners": 0}
