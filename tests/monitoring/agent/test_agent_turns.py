"""What an agent does when, on a scripted clock; and how it ends."""

from __future__ import annotations

import asyncio
import itertools
import json
import math
import os
import signal
import socket
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from monitoring.agent import agent as module
from monitoring.agent.agent import PUBLISH_S, Agent
from monitoring.agent.agent_options import AgentError, AgentOptions
from monitoring.agent.pace import Pace
from monitoring.agent.state import load
from monitoring.zookeeper.session_figures import SessionFigures

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from random import Random


class Publisher:
    """A publisher without ZooKeeper; a test may say what happens when it starts or publishes."""

    on_start: Callable[[Publisher], None] = lambda _publisher: None
    on_publish: Callable[[], None] = lambda: None

    def __init__(self, options: Any, _peers: Any, _partners: Any, _log: Any, *, on_fault: Any) -> None:
        self.options = options
        self.on_fault = on_fault
        self.contents: list[dict[str, Any]] = []

    def start(self) -> None:
        Publisher.on_start(self)

    def publish(self, content: bytes) -> None:
        self.contents.append(json.loads(content))
        Publisher.on_publish()

    def figures(self) -> SessionFigures:
        return SessionFigures({}, 0, math.nan)

    def stop(self) -> None:
        """Have nothing to end."""


@pytest.fixture
def published(monkeypatch: pytest.MonkeyPatch) -> list[Publisher]:
    """The publishers that agents made."""
    made: list[Publisher] = []

    def make(*arguments: Any, **options: Any) -> Publisher:
        made.append(Publisher(*arguments, **options))
        return made[-1]

    monkeypatch.setattr(module, "Publisher", make)
    return made


def options(interval_ms: float = 1000.0, state: Path | None = None) -> AgentOptions:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    return AgentOptions("a", "127.0.0.1:1", bind="127.0.0.1", port=port, interval_ms=interval_ms, state=state)


@pytest.mark.parametrize(("advertise", "possible"), [("127.0.0.1", True), ("::1", True), ("10.0.0.1", False)])
def test_peers_at_loopback_addresses_are_possible_where_this_host_is_at_one(
    log: Any, published: list[Publisher], advertise: str, possible: bool
) -> None:
    Agent(replace(options(), advertise=advertise), log)
    assert published[0].options.loopback == possible


def test_a_slow_pace_of_probes_makes_no_healthy_host_stale_or_down(
    fake_clock: Any, log: Any, published: list[Publisher], monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow_from_the_start(interval_s: float, rng: Random) -> Pace:
        return Pace(interval_s, rng, startup_probes=0)

    monkeypatch.setattr(module, "Pace", slow_from_the_start)
    agent = Agent(options(interval_ms=60_000), log, fake_clock)
    turns_s = []
    while fake_clock.now_s < 600:
        turns_s.append(fake_clock.now_s)
        fake_clock.now_s = agent.turn()
    (publisher,) = published
    assert len(publisher.contents) == 600 / PUBLISH_S
    assert {reading["outages"]["count"] for reading in publisher.contents} == {0}
    assert min(reading["availability"] for reading in publisher.contents) >= 0.999
    assert max(later - earlier for earlier, later in itertools.pairwise(turns_s)) <= PUBLISH_S


def test_a_probe_whose_time_is_over_is_lost_then_and_not_at_the_next_probe(
    fake_clock: Any, log: Any, published: list[Publisher], monkeypatch: pytest.MonkeyPatch
) -> None:
    expired_s: list[float] = []

    class Prober:
        def __init__(self, *_callbacks: Any, **_options: Any) -> None:
            """Have a probe under way."""

        def expire(self) -> None:
            expired_s.append(fake_clock.now_s)

        def due_s(self) -> float:
            return 3.0 if fake_clock.now_s < 3 else math.inf

    monkeypatch.setattr(module, "Prober", Prober)
    agent = Agent(options(interval_ms=60_000), log, fake_clock)
    fake_clock.now_s = agent.turn()
    assert fake_clock.now_s == 3.0
    agent.turn()
    assert expired_s == [0.0, 3.0]
    assert len(published[0].contents) == 1


def test_an_agent_that_is_asked_to_end_notes_it_in_its_state(
    log: Any, published: list[Publisher], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(Publisher, "on_publish", lambda: os.kill(os.getpid(), signal.SIGTERM))
    asyncio.run(Agent(options(state=tmp_path / "state"), log).run())
    assert load(tmp_path / "state", 5, pytest.fail).clean
    assert log.names()[-1] == "agent-stopped"
    assert len(published) == 1


@pytest.mark.usefixtures("published")
def test_an_agent_that_fails_does_not_call_it_a_planned_stop(
    log: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def fail() -> None:
        raise OverflowError("an unexpected fault")

    monkeypatch.setattr(Publisher, "on_publish", fail)
    with pytest.raises(OverflowError):
        asyncio.run(Agent(options(state=tmp_path / "state"), log).run())
    assert not load(tmp_path / "state", 5, pytest.fail).clean


@pytest.mark.usefixtures("published")
def test_a_fault_of_the_sessions_thread_ends_the_agent_with_an_error(
    log: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def fail(publisher: Publisher) -> None:
        threading.Thread(target=publisher.on_fault).start()

    monkeypatch.setattr(Publisher, "on_start", fail)
    with pytest.raises(AgentError, match="a fault of its own"):
        asyncio.run(Agent(options(state=tmp_path / "state"), log).run())
    assert not load(tmp_path / "state", 5, pytest.fail).clean
