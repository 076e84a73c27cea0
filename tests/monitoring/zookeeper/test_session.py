"""What a session logs of its znodes, with a scripted ZooKeeper."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest
from kazoo.exceptions import APIError

from monitoring.zookeeper.session import Session
from tests.monitoring.zookeeper.scripted_zookeeper import Client

if TYPE_CHECKING:
    from collections.abc import Callable

PATHS = ("/s/rates/a", "/s/rates/b")


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
def test_a_session_logs_trouble_of_a_znode_or_of_a_look_once_while_others_are_written(
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

    session = Session("zk:1", "/s/rates", log, retry_s=0.001, on_turn=turn_taken)
    session.start()
    assert done.wait(patience_s)
    session.stop()
    assert [(event.removeprefix("zookeeper-"), fields.get("path")) for event, fields in log.events] == lines
    counts = {state: 1 for state, _ in lines}
    assert session.figures().changes == counts
    assert session.figures().writes >= 6
