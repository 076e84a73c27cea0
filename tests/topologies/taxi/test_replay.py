"""Replay: what fails comes again, from a real Redis, and the end goes last."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest

from topologies.redis_io.writer import WriteLostError
from topologies.taxi.keys import REDIS_KEY, REPLAY_KEY, RUN_KEY, replays
from topologies.taxi.packing import marked, unmarked
from topologies.taxi.totals import Totals
from topologies.taxi.trail import extended, numbered, unnumbered
from topologies.taxi.under_way import Row, RowsUnderWay

if TYPE_CHECKING:
    from collections.abc import Callable

_WAIT_S = 20.0


def conf(redis_server: Any) -> dict[str, Any]:
    return {REDIS_KEY: str(redis_server.address), RUN_KEY: "r1", REPLAY_KEY: True}


def until(wanted: int, messages: Callable[[], list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Collect so many emits, acks and fails."""
    got: list[dict[str, Any]] = []
    end_s = time.monotonic() + _WAIT_S
    while len(got) < wanted and time.monotonic() < end_s:
        got += [each for each in messages() if each["command"] in {"emit", "ack", "fail"}]
        time.sleep(0.002)
    assert len(got) == wanted, got
    return got


def test_rows_are_chosen_failed_first_and_the_end_last() -> None:
    """At most so many are under way; a failed row pauses; a row that is known is not taken again."""
    rows = RowsUnderWay(most=2, pause_s=1.0)
    for n in (1, 2, 3):
        rows.take(Row(n, f"{n}-0", "x"))
    rows.take(Row(4, "4-0", "", end=True))
    assert [rows.next_due(0.0).n, rows.next_due(0.0).n, rows.next_due(0.0)] == [1, 2, None]
    rows.take(Row(1, "1-0", "x"))
    rows.failed(1)
    rows.failed(9)
    assert rows.next_due(0.9) is None
    again = rows.next_due(1.0)
    assert (again.n, again.repeated) == (1, True)
    assert rows.acked(2).entry_id == "2-0"
    assert rows.acked(2) is None
    assert rows.next_due(1.0).n == 3
    rows.acked(1)
    assert not rows.end_is_next
    rows.acked(3)
    assert rows.end_is_next
    assert rows.next_due(9.0) is None
    rows.release_end()
    assert rows.next_due(9.0).end
    assert not rows.end_is_next


def test_a_new_source_goes_on_with_rows_that_are_not_done(
    stage: Callable[..., Any], redis_server: Any
) -> None:
    """It emits them first, with higher numbers; the end comes when all are done; bad entries hold nothing."""
    client = redis_server.client()
    for fields in ({"n": 1, "line": "a"}, {"n": "x"}, {"n": 2, "line": "b"}):
        client.xadd("taxi:r1:rows", fields)
    old = stage("dataSource", conf(redis_server))
    first = until(2, lambda: old.run({"command": "next"}))
    assert [(each["id"], each["tuple"][0]) for each in first] == [("1", 1), ("2", 2)]
    old.run({"command": "ack", "id": "1"})
    while client.xpending("taxi:r1:rows", "dataSource")["pending"] > 1:
        time.sleep(0.002)
    old.component._reader.stop()
    for fields in ({"n": 3, "line": "c"}, {"n": 4, "end": 1}):
        client.xadd("taxi:r1:rows", fields)
    new = stage("dataSource", conf(redis_server))
    again, other = until(2, lambda: new.run({"command": "next"}))
    assert (again["id"], again["tuple"][2], other["id"]) == ("2", "b", "3")
    assert unnumbered(again["tuple"][1])[0] > unnumbered(first[1]["tuple"][1])[0]
    new.run({"command": "fail", "id": "2"})
    (again,) = until(1, lambda: new.run({"command": "next"}))
    assert again["id"] == "2"
    new.run({"command": "ack", "id": "2"})
    new.run({"command": "ack", "id": "3"})
    (end,) = until(1, lambda: new.run({"command": "next"}))
    assert Totals.decode(end["tuple"][3]) == Totals(rows=3)
    new.run({"command": "ack", "id": "4"})
    while client.xpending("taxi:r1:rows", "dataSource")["pending"]:
        time.sleep(0.002)
    assert client.hgetall("taxi:r1:source") == {"began": "2", "replayed": "2"}


def test_a_result_is_acknowledged_when_redis_has_it(stage: Callable[..., Any], redis_server: Any) -> None:
    """While Redis is silent nothing is; what it has not taken when it goes away fails."""
    each = stage("globalRank", conf(redis_server))

    def give(p: int) -> list[dict[str, Any]]:
        values = [p, p, "5", "A", "B", 0, "1.1-2.2 1 1", ""]
        return each.run(
            {"id": f"t{p}", "comp": "partialRank", "stream": "default", "task": 1, "tuple": values}
        )

    answers = give(1)
    answers += until(1 - len(answers), each.messages)
    assert answers == [{"command": "ack", "id": "t1"}]
    redis_server.freeze()
    assert give(2) == []
    redis_server.stop()
    each.component._writer._session.wait_answered(_WAIT_S)
    tick = {"id": "tick", "comp": "__system", "stream": "__tick", "task": -1, "tuple": [5]}
    answers = [answer for answer in each.run(tick) if answer["command"] in {"ack", "fail"}]
    assert answers == [{"command": "fail", "id": "t2"}, {"command": "ack", "id": "tick"}]
    answers = [answer for answer in give(3) if answer["command"] in {"ack", "fail"}]
    assert answers == [{"command": "fail", "id": "t3"}]
    with pytest.raises(WriteLostError):
        each.component._writer.add("s", {"n": 1}, tag=4)


def test_what_travels_inside_texts_comes_out_again() -> None:
    """Number of the emit in the trail, begin of the window before the counts."""
    assert unnumbered(numbered("17", 5)) == (5, "17")
    assert unnumbered(extended(numbered("17", 5), 18, 19)) == (5, "17 18 19")
    assert unmarked(marked(41, "1.1-2.2 1 1")) == (41, "1.1-2.2 1 1")
    assert unmarked(marked(41, "")) == (41, "")
    assert unmarked("1.1-2.2 1 1") == (0, "1.1-2.2 1 1")


def test_replay_is_true_or_false() -> None:
    """Anything else in the configuration is refused with its key."""
    assert (replays({}), replays({REPLAY_KEY: True}), replays({REPLAY_KEY: False})) == (False, True, False)
    with pytest.raises(ValueError, match=r"taxi\.replay is 'true', it must be true or false"):
        replays({REPLAY_KEY: "true"})
