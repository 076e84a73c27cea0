"""The sleeping topology: what is submitted, and a source that loses nothing."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

from formats.address import Address
from topologies.sleeping.components import Source
from topologies.sleeping.configuration import SleepingRun, item_number, item_text
from topologies.sleeping.sleeping_submission import Sleeper, SleepingSubmission

RUN = SleepingRun("sized-1")


class Lists:
    """Two lists of Redis."""

    def __init__(self, *waiting: str, taken: tuple[str, ...] = ()) -> None:
        self.of = {RUN.waiting: list(waiting), RUN.taken: list(taken)}

    def blmove(self, first: str, second: str, _timeout: float) -> str | None:
        if not self.of[first]:
            return None
        self.of[second].append(self.of[first].pop(0))
        return self.of[second][-1]

    def lrange(self, key: str, _begin: int, _end: int) -> list[str]:
        return list(self.of[key])

    def lrem(self, key: str, _count: int, value: str) -> None:
        self.of[key].remove(value)


def _source(lists: Lists) -> tuple[Source, list[str]]:
    source: Any = Source(input_stream=io.BytesIO(), output_stream=io.BytesIO())
    source.initialize({"sleeping.redis": "redis:6379", "sleeping.run": RUN.id}, {})
    source._redis = lists
    sent: list[str] = []
    source.emit = lambda values, **_: sent.append(values[0])
    return source, sent


def test_an_item_stays_taken_until_it_is_acknowledged() -> None:
    lists = Lists("0:5", "1:6")
    source, sent = _source(lists)
    source.next_tuple()
    source.next_tuple()
    source.next_tuple()
    assert sent == ["0:5", "1:6"]
    source.ack("0:5")
    assert lists.of == {RUN.waiting: [], RUN.taken: ["1:6"]}


def test_an_item_that_fails_is_sent_again_unless_it_is_done() -> None:
    source, sent = _source(Lists("0:5"))
    source.next_tuple()
    source.fail("0:5")
    source.ack("0:5")
    source.fail("0:5")
    assert sent == ["0:5", "0:5"]


def test_what_an_instance_before_had_taken_is_sent_first() -> None:
    source, sent = _source(Lists("12:9", taken=("10:7", "9:6")))
    source.next_tuple()
    assert sent == ["9:6", "10:7", "12:9"]


def test_what_is_taken_later_by_another_is_sent_once_it_was_seen_twice() -> None:
    lists = Lists()
    source, sent = _source(lists)
    source.next_tuple()
    lists.of[RUN.taken].append("3:4")
    for expected in ([], ["3:4"], ["3:4"]):
        source._look_s = 0.0
        source.next_tuple()
        assert sent == expected


def test_items_have_their_numbers() -> None:
    assert item_number(item_text(-7, 123)) == -7


def test_bolts_are_in_a_row_and_have_tasks_to_grow() -> None:
    submission = SleepingSubmission(
        name="sleeping",
        run=RUN,
        redis=Address("redis", 6379),
        sleepers=(Sleeper("parse", 120.0, 3), Sleeper("report", 150.0, 40)),
        tasks=24,
        graphite=Address("10.0.0.1", 2003),
        storm_home=Path("/nowhere"),
        conf={"topology.max.spout.pending": 7},
    )
    conf = submission.configuration()
    assert conf["topology.acker.executors"] == 1
    assert conf["topology.stats.sample.rate"] == 1.0
    assert conf["topology.max.spout.pending"] == 7
    assert conf["sleeping.run"] == "sized-1"
    topology = submission.thrift_topology()
    inputs = {
        name: [each.componentId for each in bolt.common.inputs] for name, bolt in topology.bolts.items()
    }
    assert inputs == {"parse": ["source"], "report": ["parse"], "sink": ["report"]}
    counts = {name: bolt.common.parallelism_hint for name, bolt in topology.bolts.items()}
    # no more executors than tasks
    assert counts == {"parse": 3, "report": 24, "sink": 1}
    assert json.loads(topology.bolts["parse"].common.json_conf) == {"topology.tasks": 24}
