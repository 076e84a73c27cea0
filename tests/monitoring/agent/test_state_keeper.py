"""Rules of keeping the state file while the agent works."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from monitoring.agent import state
from monitoring.agent.availability import History
from monitoring.agent.state import State
from monitoring.agent.state_keeper import StateKeeper
from monitoring.coordinate import Coordinate

if TYPE_CHECKING:
    from pathlib import Path

STATE = State(1000.0, clean=False, coordinate=Coordinate((1.0, 2.0), 0.5, 0.1), history=History(500.0, 20.0))


class Disk:
    """A disk that takes its time: a write ends when it is let go."""

    def __init__(self, patience_s: float) -> None:
        self._patience_s = patience_s
        self.began = threading.Event()
        self.go_on = threading.Event()
        self.threads: list[threading.Thread] = []
        self.written: list[State] = []
        self.trouble: Exception | None = None

    def save(self, _path: Path, content: State) -> None:
        self.threads.append(threading.current_thread())
        self.began.set()
        assert self.go_on.wait(self._patience_s)
        if self.trouble is not None:
            raise self.trouble
        self.written.append(content)


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch, patience_s: float) -> Disk:
    slow = Disk(patience_s)
    monkeypatch.setattr(state, "save", slow.save)
    return slow


def numbered(number: int) -> State:
    return replace(STATE, saved_s=float(number))


def test_a_slow_disk_holds_up_neither_the_event_loop_nor_gets_a_second_write(
    tmp_path: Path, log: Any, disk: Disk
) -> None:
    async def scenario() -> None:
        keeper = StateKeeper(tmp_path / "state", log)
        keeper.save_soon(numbered(1))
        assert await asyncio.to_thread(disk.began.wait)
        keeper.save_soon(numbered(2))  # the first is still under way
        assert disk.written == []
        disk.go_on.set()
        await keeper.save(numbered(3))
        assert disk.written == [numbered(1), numbered(3)]
        assert threading.current_thread() not in disk.threads

    asyncio.run(scenario())


def test_a_disk_that_does_not_take_the_file_is_logged_once_and_again_when_it_does(
    tmp_path: Path, log: Any, disk: Disk
) -> None:
    async def scenario() -> None:
        keeper = StateKeeper(tmp_path / "state", log)
        disk.go_on.set()
        disk.trouble = OSError("full")
        await keeper.save(STATE)
        await keeper.save(STATE)
        disk.trouble = None
        await keeper.save(STATE)
        await keeper.save(STATE)

    asyncio.run(scenario())
    file = str(tmp_path / "state")
    assert log.events == [
        ("state-unwritable", {"file": file, "reason": "full"}),
        ("state-written-again", {"file": file}),
    ]


def test_what_is_no_trouble_of_the_disk_comes_out_with_the_next_write(
    tmp_path: Path, log: Any, disk: Disk
) -> None:
    async def scenario() -> None:
        keeper = StateKeeper(tmp_path / "state", log)
        disk.go_on.set()
        disk.trouble = ValueError("not a number")
        keeper.save_soon(STATE)
        with pytest.raises(ValueError, match="not a number"):
            await keeper.save(STATE)

    asyncio.run(scenario())


def test_a_saved_state_is_there_for_the_next_run(tmp_path: Path, log: Any) -> None:
    keeper = StateKeeper(tmp_path / "state", log)
    assert keeper.restore(2, 1000.0) is None
    asyncio.run(keeper.save(replace(STATE, clean=True)))
    after = StateKeeper(tmp_path / "state", log).restore(2, 1000.0)
    assert after is not None
    assert after.coordinate.position_ms == STATE.coordinate.position_ms
    assert after.history.bad_s == STATE.history.bad_s
    assert log.events == []


@pytest.mark.parametrize(
    "content", [b"[" * 100_000, b'{"version": 1, "coordinate": [1, 1' + b"0" * 400 + b"]}"]
)
def test_a_damaged_file_is_logged_and_costs_only_the_memory(tmp_path: Path, log: Any, content: bytes) -> None:
    (tmp_path / "state").write_bytes(content)
    assert StateKeeper(tmp_path / "state", log).restore(2, 1000.0) is None
    assert log.names() == ["state-unreadable"]


def test_without_a_file_nothing_is_kept(log: Any) -> None:
    keeper = StateKeeper(None, log)
    keeper.save_soon(STATE)
    asyncio.run(keeper.save(STATE))
    assert keeper.restore(2, 1000.0) is None
    assert log.events == []
