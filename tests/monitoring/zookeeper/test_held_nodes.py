"""Rules of the znodes that a session keeps, with a scripted ZooKeeper."""

from __future__ import annotations

import pytest
from kazoo.exceptions import APIError, ConnectionLoss, NoAuthError

from monitoring.zookeeper.held_nodes import HeldNodes, NodeNews
from tests.monitoring.zookeeper.scripted_zookeeper import FOREIGN, OURS, Client

PATHS = ("/s/rates/a", "/s/rates/b")


@pytest.fixture
def client() -> Client:
    return Client()


@pytest.fixture
def nodes() -> HeldNodes:
    return HeldNodes()


def turn(nodes: HeldNodes, client: Client) -> list[NodeNews]:
    return list(nodes.take_turn(client))


def test_what_is_held_is_written_once_and_what_is_released_is_removed(
    nodes: HeldNodes, client: Client
) -> None:
    nodes.hold(PATHS[0], b"1")
    assert turn(nodes, client) == [NodeNews(PATHS[0], "publishing")]
    assert turn(nodes, client) == []
    nodes.release(PATHS[0])
    assert turn(nodes, client) == []
    assert client.contents == {}
    calls = len(client.calls)
    assert turn(nodes, client) == []
    assert len(client.calls) == calls


@pytest.mark.parametrize("operation", ["exists", "delete"])
def test_a_removal_that_fails_is_tried_again(nodes: HeldNodes, client: Client, operation: str) -> None:
    nodes.hold(PATHS[0], b"1")
    turn(nodes, client)
    nodes.release(PATHS[0])
    client.faults[operation, PATHS[0]] = [ConnectionLoss()]
    with pytest.raises(ConnectionLoss):
        turn(nodes, client)
    assert PATHS[0] in client.contents
    turn(nodes, client)
    assert client.contents == {}


def test_a_removal_whose_reply_is_lost_is_over_when_the_znode_is_gone(
    nodes: HeldNodes, client: Client
) -> None:
    nodes.hold(PATHS[0], b"1")
    turn(nodes, client)
    nodes.release(PATHS[0])
    client.lost_replies["delete", PATHS[0]] = ConnectionLoss()
    with pytest.raises(ConnectionLoss):
        turn(nodes, client)
    turn(nodes, client)
    calls = len(client.calls)
    turn(nodes, client)
    assert len(client.calls) == calls


def test_a_removal_without_a_session_waits_for_one(nodes: HeldNodes, client: Client) -> None:
    nodes.hold(PATHS[0], b"1")
    turn(nodes, client)
    nodes.release(PATHS[0])
    client.client_id = None
    turn(nodes, client)
    assert PATHS[0] in client.contents
    client.client_id = (OURS, b"")
    turn(nodes, client)
    assert client.contents == {}


def test_a_znode_whose_making_got_no_reply_is_removed_all_the_same(nodes: HeldNodes, client: Client) -> None:
    nodes.hold(PATHS[0], b"1")
    client.lost_replies["create", PATHS[0]] = ConnectionLoss()
    with pytest.raises(ConnectionLoss):
        turn(nodes, client)
    nodes.release(PATHS[0])
    turn(nodes, client)
    assert client.contents == {}


def test_a_foreign_znode_is_not_removed(nodes: HeldNodes, client: Client) -> None:
    client.occupy(PATHS[0])
    nodes.hold(PATHS[0], b"1")
    turn(nodes, client)
    nodes.release(PATHS[0])
    turn(nodes, client)
    assert client.contents == {PATHS[0]: b"foreign"}


def test_what_is_held_again_before_it_was_removed_stays(nodes: HeldNodes, client: Client) -> None:
    nodes.hold(PATHS[0], b"1")
    turn(nodes, client)
    nodes.release(PATHS[0])
    client.lost_replies["delete", PATHS[0]] = ConnectionLoss()
    with pytest.raises(ConnectionLoss):
        turn(nodes, client)
    nodes.hold(PATHS[0], b"1")
    turn(nodes, client)
    turn(nodes, client)
    assert client.contents == {PATHS[0]: b"1"}


def test_after_the_session_a_released_znode_is_no_longer_ours(nodes: HeldNodes, client: Client) -> None:
    nodes.hold(PATHS[0], b"1")
    turn(nodes, client)
    client.occupy(PATHS[0])  # a second collector's, as soon as our session was over
    nodes.release(PATHS[0])
    nodes.session_over()
    turn(nodes, client)
    assert client.contents == {PATHS[0]: b"foreign"}


def test_a_refused_removal_is_news_once_and_keeps_no_other_znode_waiting(
    nodes: HeldNodes, client: Client
) -> None:
    nodes.hold(PATHS[0], b"1")
    turn(nodes, client)
    nodes.release(PATHS[0])
    nodes.hold(PATHS[1], b"2")
    client.faults["delete", PATHS[0]] = [NoAuthError(), NoAuthError()]
    assert [(one.path, one.state) for one in turn(nodes, client)] == [
        (PATHS[0], "refusing"),
        (PATHS[1], "publishing"),
    ]
    assert turn(nodes, client) == []
    turn(nodes, client)
    assert client.contents == {PATHS[1]: b"2"}


def test_a_held_znode_is_news_once_however_often_another_is_written(nodes: HeldNodes, client: Client) -> None:
    client.occupy(PATHS[0])
    reported = []
    for number in range(3):
        for path in PATHS:
            nodes.hold(path, b"%d" % number)
        reported.append(turn(nodes, client))
    written = [NodeNews(PATHS[1], "publishing")]
    assert reported == [[NodeNews(PATHS[0], "held"), *written], written, written]
    del client.owners[PATHS[0]]
    assert turn(nodes, client) == [NodeNews(PATHS[0], "publishing", mended=True)]
    client.owners[PATHS[0]] = FOREIGN
    nodes.session_over()
    nodes.connected()
    assert turn(nodes, client)[0] == NodeNews(PATHS[0], "held")  # another time: news again


def test_a_refused_write_is_news_again_only_for_another_reason(nodes: HeldNodes, client: Client) -> None:
    nodes.hold(PATHS[0], b"1")
    client.faults["create", PATHS[0]] = [NoAuthError(), NoAuthError(), APIError(), APIError()]
    reported = [news for _ in range(5) for news in turn(nodes, client)]
    assert [(one.state, one.mended) for one in reported] == [
        ("refusing", False),
        ("refusing", False),
        ("publishing", True),
    ]
    assert "--zookeeper-auth-file" in reported[0].reason
    assert "APIError" in reported[1].reason
