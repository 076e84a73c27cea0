"""The collector keeps what is usual in a file, and publishes how busy the next hours usually are."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from monitoring.rates.collector import Collector
from monitoring.rates.rates_options import CollectorError, CollectorOptions
from monitoring.rates.week_file import WeekFile
from tests.monitoring.rates.scripted_nimbus import RATE, Scene

if TYPE_CHECKING:
    from pathlib import Path

HOUR_S = 3600.0
BEGIN_S = 1e9
"""Unix time at which the scripted clock is 0: the 47th minute of an hour."""


class Weeks(Scene):
    """A collector that keeps what is usual."""

    def __init__(self, clock: Any, log: Any, path: Path) -> None:
        super().__init__(clock, log)
        self.weeks = WeekFile(path, log)
        self.collector = Collector(
            self.nimbus.connect,  # type: ignore[arg-type]  # a double
            self.nodes,  # type: ignore[arg-type]  # likewise
            "/s",
            log,
            clock=clock,
            unix_time=lambda: BEGIN_S + clock(),
            weeks=self.weeks,
        )


def usual(path: Path, hour: int, rate: float) -> None:
    """Write a file in which two hours were seen in three weeks, the second one three times as busy."""
    hours = [[hour, rate, 3], [hour + 1, 3.0 * rate, 3]]
    path.write_text(json.dumps({"version": 1, "weeks": {"taxi": {"seen": BEGIN_S, "hours": hours}}}))


def test_a_reading_says_how_busy_the_next_hours_usually_are(
    fake_clock: Any, log: Any, tmp_path: Path
) -> None:
    """By the name of the topology, whatever its number; without a file readings say nothing of it."""
    file = tmp_path / "weeks"
    usual(file, hour=145, rate=20.0)  # 1e9 s is a Sunday, 01:46 UTC
    scene = Weeks(fake_clock, log, file)
    scene.nimbus.statuses = {"taxi-7-1764547200": "ACTIVE"}
    scene.run(120)
    reading = scene.nodes.now["/s/rates/taxi-7-1764547200"]
    assert reading["hours_ahead"][:2] == [3.0, None]
    assert len(reading["hours_ahead"]) == 24
    plain = Scene(fake_clock, log)
    plain.run(240)
    assert "hours_ahead" not in (plain.reading() or {})


def test_an_hour_that_has_ended_is_written_and_read_again(fake_clock: Any, log: Any, tmp_path: Path) -> None:
    """The mean of what the spout emitted in it."""
    file = tmp_path / "weeks"
    scene = Weeks(fake_clock, log, file)
    scene.run(2 * HOUR_S)
    kept = json.loads(file.read_text())["weeks"]["taxi-1"]["hours"]
    assert [entry[0] for entry in kept] == [146]
    assert kept[0][1:] == [pytest.approx(2.0 * RATE), 1]
    again = WeekFile(file, log)
    assert again.memory.content() == json.loads(file.read_text())


def test_a_file_that_cannot_be_read_or_written_is_logged(fake_clock: Any, log: Any, tmp_path: Path) -> None:
    """The collector goes on without."""
    file = tmp_path / "weeks"
    file.write_text('{"version": 1, "weeks": 5}')
    scene = Weeks(fake_clock, log, file)
    assert log.names() == ["state-unreadable"]
    file.unlink()
    file.mkdir()
    scene.run(2 * HOUR_S)
    assert "state-unwritable" in log.names()
    assert scene.reading() is not None


def test_a_file_of_something_else_is_not_overwritten(tmp_path: Path) -> None:
    """Nor one of an agent; and a folder that is not there is named."""
    other = tmp_path / "agent"
    other.write_text('{"version": 1, "saved": 5}')
    for path, reason in ((other, "is no state of a rates collector"), (tmp_path / "no" / "file", "folder")):
        options = CollectorOptions("n:6627", "z:2181", state=path)
        with pytest.raises(CollectorError, match=reason):
            options.check()
