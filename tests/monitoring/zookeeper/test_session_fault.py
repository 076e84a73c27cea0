"""A fault of a session's own thread ends it aloud."""

from __future__ import annotations

import signal
import threading
from typing import TYPE_CHECKING, Any

import pytest

from monitoring.rates.collector import run
from monitoring.rates.rates_options import CollectorError, CollectorOptions
from monitoring.zookeeper.session import Session

if TYPE_CHECKING:
    from collections.abc import Iterator


class Client:
    """A connection that stands, to nowhere."""

    connected = True

    def start_async(self) -> None:
        """Stand already."""

    def stop(self) -> None:
        """Have nothing to end."""

    close = stop


class BrokenClient(Client):
    """A connection whose very state cannot be found."""

    @property
    def connected(self) -> bool:  # type: ignore[override]  # a fault instead of an answer
        raise OverflowError("an unexpected fault")


@pytest.fixture
def signals_kept() -> Iterator[None]:
    """Handlers of signals as they were."""
    kept = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    yield
    for number, handler in kept.items():
        signal.signal(number, handler)


@pytest.fixture
def faults_of_threads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the faults that threads died of."""
    faults: list[str] = []
    monkeypatch.setattr(threading, "excepthook", lambda fault: faults.append(fault.exc_type.__name__))
    monkeypatch.setattr(Session, "_new_client", lambda _session: Client())
    return faults


def test_a_fault_in_a_turn_is_logged_and_reported(
    faults_of_threads: list[str], log: Any, patience_s: float
) -> None:
    ended = threading.Event()

    def turn(_client: Any) -> None:
        raise OverflowError("an unexpected fault")

    session = Session("127.0.0.1:1", "/s/nodes/a", log, retry_s=0.01, on_turn=turn, on_fault=ended.set)
    session.start()
    assert ended.wait(patience_s)
    session.stop()  # waits for the end of the thread
    assert faults_of_threads == ["OverflowError"]


def test_an_end_that_was_asked_for_is_no_fault(
    faults_of_threads: list[str], log: Any, patience_s: float
) -> None:
    turned, ended = threading.Event(), threading.Event()
    session = Session(
        "127.0.0.1:1",
        "/s/nodes/a",
        log,
        retry_s=0.01,
        on_turn=lambda _client: turned.set(),
        on_fault=ended.set,
    )
    session.start()
    assert turned.wait(patience_s)
    session.stop()
    assert (faults_of_threads, ended.is_set()) == ([], False)


@pytest.mark.usefixtures("signals_kept")
def test_a_collector_whose_session_has_a_fault_ends_with_an_error(
    faults_of_threads: list[str], log: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Session, "_new_client", lambda _session: BrokenClient())
    with pytest.raises(CollectorError, match="a fault of its own"):
        run(CollectorOptions(nimbus="127.0.0.1:1", zookeeper="127.0.0.1:1"), log)
    assert faults_of_threads == ["OverflowError"]
