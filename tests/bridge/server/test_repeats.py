"""Warnings of one event are logged in powers of ten, hourly, and anew after a pause."""

from __future__ import annotations

import io
import json

import pytest

from bridge.server.repeats import AT_LEAST_EVERY_S, FORGOTTEN_AFTER_S, RepeatLog
from formats.log import Log


class Scene:
    def __init__(self):
        self.now_s = 0.0
        self.text = io.StringIO()
        self.log = RepeatLog(Log(stream=self.text), lambda: self.now_s)

    def warn(self, times=1, event="closed", every_s=0.0):
        for number in range(times):
            self.log.warning(event, reason=str(number))
            self.now_s += every_s

    def lines(self):
        found = [json.loads(line) for line in self.text.getvalue().splitlines()]
        return [(line["event"], line["count"], line["reason"]) for line in found]


@pytest.fixture
def scene():
    return Scene()


def test_a_thousand_warnings_are_four_lines(scene):
    """The last of those that each line counts is quoted."""
    scene.warn(1000)
    assert scene.lines() == [
        ("closed", 1, "0"),
        ("closed", 10, "9"),
        ("closed", 100, "99"),
        ("closed", 1000, "999"),
    ]


def test_events_are_counted_apart(scene):
    """One that is frequent hides no other."""
    scene.warn(5)
    scene.warn(1, event="refused")
    assert [line[:2] for line in scene.lines()] == [("closed", 1), ("refused", 1)]


def test_one_that_goes_on_is_logged_each_hour(scene):
    """At one per minute the thousandth would come after most of a day."""
    scene.warn(200, every_s=60.0)
    hourly = AT_LEAST_EVERY_S / 60.0
    assert [count for _, count, _ in scene.lines()] == [1, 10, 10 + hourly, 100, 100 + hourly]


def test_after_a_pause_it_is_news_again(scene):
    """Counted from one."""
    scene.warn(3)
    scene.now_s += FORGOTTEN_AFTER_S
    scene.warn()
    assert [count for _, count, _ in scene.lines()] == [1]
    scene.now_s += FORGOTTEN_AFTER_S + 1.0
    scene.warn()
    assert [count for _, count, _ in scene.lines()] == [1, 1]
