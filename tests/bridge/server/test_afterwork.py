"""After an answer that lacked time the daemon plans on, until the cluster asks again."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from bridge.server import afterwork
from bridge.server.handler import RoundHandler
from bridge.settings import PlanSettings, Settings
from bridge.wire.messages import Decision
from bridge.wire.structs import to_thrift
from formats.log import Log

LARGE = Settings(plan=PlanSettings(max_pairs=1))


@pytest.fixture
def handler():
    with_log = RoundHandler(LARGE, None, Log())
    yield with_log
    with_log.close()


def _request(make, deadline_ms=60_000):
    topology = replace(make.chain("a", (1, 2), [0]), num_workers=1)
    request = make.cluster(topology)
    return replace(
        request, supervisors=(make.supervisor("h0"),), readings=(), deadline_ms=deadline_ms, cluster="c"
    )


def _ask(handler, request):
    call = handler.call()
    return call, call.plan(to_thrift(request))


def test_the_next_round_has_what_was_planned_since(make, handler, monkeypatch):
    """It begins only when the answer is out."""
    begun, done = threading.Event(), threading.Event()

    def preparing(*arguments):
        begun.set()
        found = prepare(*arguments)
        done.set()
        return found

    prepare = afterwork.prepare
    monkeypatch.setattr(afterwork, "prepare", preparing)
    call, answer = _ask(handler, _request(make, deadline_ms=0))
    assert answer.plans == []
    assert not begun.is_set()
    running = set(threading.enumerate())
    call.finish()
    assert done.wait(20)
    for thread in set(threading.enumerate()) - running:
        thread.join(20)
    _, answer = _ask(handler, _request(make))
    assert answer.plans[0].decision == Decision.ASSIGN
    assert answer.plans[0].status.endswith("planned since the round before")


def test_a_new_round_stops_it(make, handler, monkeypatch):
    """Its clock then says that time is over, and what it finds is dropped."""
    begun, go_on, clocks = threading.Event(), threading.Event(), []

    def preparing(_request, _response, _settings, clock):
        begun.set()
        assert go_on.wait(20)
        clocks.append(clock())
        return ()

    monkeypatch.setattr(afterwork, "prepare", preparing)
    call, _ = _ask(handler, _request(make, deadline_ms=0))
    running = set(threading.enumerate())
    call.finish()
    assert begun.wait(20)
    _, answer = _ask(handler, _request(make))
    assert answer.plans[0].status.startswith("placed by packing (auto)")
    go_on.set()
    for thread in set(threading.enumerate()) - running:
        thread.join(20)
    assert clocks == [float("inf")]


def test_a_failure_costs_nothing_but_the_work(make, handler, monkeypatch):
    failed = threading.Event()

    def failing(*_):
        failed.set()
        raise ZeroDivisionError("no hope")

    monkeypatch.setattr(afterwork, "prepare", failing)
    call, _ = _ask(handler, _request(make, deadline_ms=0))
    call.finish()
    assert failed.wait(20)
    _, answer = _ask(handler, _request(make))
    assert answer.plans[0].decision == Decision.ASSIGN


def test_a_round_with_time_enough_leaves_nothing_over(make, handler, monkeypatch):
    monkeypatch.setattr(afterwork, "prepare", lambda *_: pytest.fail("nothing is left over"))
    running = set(threading.enumerate())
    call, _ = _ask(handler, _request(make))
    call.finish()
    assert set(threading.enumerate()) <= running
