"""Rules of the znodes that a session keeps, with a scripted ZooKeeper."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from kazoo.exceptions import APIError, ConnectionLoss, NoAuthError, NodeExistsError, NoNodeError

from monitoring.held_nodes import HeldNodes, NodeNews
from monitoring.session import Session, SessionOptions

if TYPE_CHECKING:
    from collections.abc import Callable

OURS, FOREIGN = 7, 8
PATHS = ("/s/rates/a", "/s/rates/b")


class Reply:
    """An answer that is there already."""

    def __init__(self, answer: Callable[[], Any]) -> None:
        self._answer = answer

    def get(self, timeout: float) -> Any:
        assert timeout > 0
        return self._answer()


class Client:
    """A connection of session `OURS`; `faults` holds what the next calls of an operation on a path raise."""

    connected = True

    def __init__(self) -> None:
        self.client_id: tuple[int, bytes] | None = (OURS, b"")
        self.owners: dict[str, int] = {}
        self.contents: dict[str, bytes] = {}
        self.faults: dict[tuple[str, str], list[Exception]] = {}
        self.lost_replies: dict[tuple[str, str], Exception] = {}
        self.calls: list[tuple[str, str]] = []

    def _reply(self, operation: str, path: str, act: Callable[[], Any]) -> Reply:
        self.calls.append((operation, path))
        faults = self.faults.get((operation, path), [])
        fault = faults.pop(0) if faults else None

        def answer() -> Any:
            if fault is not None:
                raise fault
            done = act()
            if (operation, path) in self.lost_replies:
                raise self.lost_replies.pop((operation, path))
            return done

        return Reply(answer)

    def create_async(self, path: str, content: bytes, *, ephemeral: bool, makepath: bool) -> Reply:
        assert (ephemeral, makepath) == (True, True)

        def act() -> None:
            if path in self.owners:
                raise NodeExistsError
            self.owners[path], self.contents[path] = OURS, content

        return self._reply("create", path, act)

    def set_async(self, path: str, content: bytes) -> Reply:
        def act() -> None:
            if path not in self.owners:
                raise NoNodeError
            self.contents[path] = content

        return self._reply("set", path, act)

    def exists_async(self, path: str) -> Reply:
        owner = self.owners.get(path)
        return self._reply(
            "exists", path, lambda: None if owner is None else SimpleNamespace(ephemeralOwner=owner)
        )

    def delete_async(self, path: str) -> Reply:
        def act() -> None:
            if self.owners.pop(path, None) is None:
                raise NoNodeError
            del self.contents[path]

        return self._reply("delete", path, act)

    def occupy(self, path: str) -> None:
        self.owners[path], self.contents[path] = FOREIGN, b"foreign"

    def start_async(self) -> None:
        """Stand already."""

    def stop(self) -> None:
        """Have nothing to end."""

    close = stop


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


def test_a_refused_removal_is_told_once_and_keeps_no_other_znode_waiting(
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


def test_a_held_znode_is_told_once_however_often_another_is_written(nodes: HeldNodes, client: Client) -> None:
    client.occupy(PATHS[0])
    told = []
    for number in range(3):
        for path in PATHS:
            nodes.hold(path, b"%d" % number)
        told.append(turn(nodes, client))
    written = [NodeNews(PATHS[1], "publishing")]
    assert told == [[NodeNews(PATHS[0], "held"), *written], written, written]
    del client.owners[PATHS[0]]
    assert turn(nodes, client) == [NodeNews(PATHS[0], "publishing", mended=True)]
    client.owners[PATHS[0]] = FOREIGN
    nodes.session_over()
    nodes.connected()
    assert turn(nodes, client)[0] == NodeNews(PATHS[0], "held")  # another time: told again


def test_a_refused_write_is_told_again_only_for_another_reason(nodes: HeldNodes, client: Client) -> None:
    nodes.hold(PATHS[0], b"1")
    client.faults["create", PATHS[0]] = [NoAuthError(), NoAuthError(), APIError(), APIError()]
    told = [news for _ in range(5) for news in turn(nodes, client)]
    assert [(one.state, one.mended) for one in told] == [
        ("refusing", False),
        ("refusing", False),
        ("publishing", True),
    ]
    assert "--zookeeper-auth-file" in told[0].reason
    assert "APIError" in told[1].reason


class Turns:
    """What a session does in its turns besides writing; a test can wait for some."""

    def __init__(self, session: Callable[[], Session], count: int, fault: Exception | None) -> None:
        self.done = 0
        self._session, self._count, self._fault = session, count, fault

    def __call__(self, _client: Any) -> None:
        self.done += 1
        if self.done <= self._count:
            for path in PATHS:
                self._session().hold(path, b"%d" % self.done)
        if self._fault is not None and self.done % 2:
            raise self._fault


@pytest.mark.parametrize(
    ("fault", "lines"),
    [
        (None, [("held", PATHS[0]), ("publishing", "/s/rates")]),
        (APIError(), [("refusing", None), ("held", PATHS[0]), ("publishing", "/s/rates")]),
    ],
)
def test_a_session_tells_trouble_of_a_znode_or_of_a_look_once_while_others_are_written(
    monkeypatch: pytest.MonkeyPatch,
    log: Any,
    patience_s: float,
    fault: Exception | None,
    lines: list[tuple[str, str | None]],
) -> None:
    """Two collectors: one topology's znode is the other's, the rest is written again and again."""
    client = Client()
    client.occupy(PATHS[0])
    monkeypatch.setattr(Session, "_new_client", lambda _session: client)
    turns = Turns(lambda: session, 6, fault)
    done = threading.Event()

    def turn_taken(its_client: Any) -> None:
        if turns.done == 8:
            done.set()
        turns(its_client)

    session = Session(SessionOptions("zk:1", "/s/rates", retry_s=0.001), log, on_turn=turn_taken)
    session.start()
    assert done.wait(patience_s)
    session.stop()
    assert [(event.removeprefix("zookeeper-"), fields.get("path")) for event, fields in log.events] == lines
    counts = {state: 1 for state, _ in lines}
    assert session.figures().changes == counts
    assert session.figures().writes >= 6
