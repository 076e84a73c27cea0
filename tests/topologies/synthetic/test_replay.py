"""Operators that work faster on some hosts, and sources that send again what acking calls lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from topologies.synthetic.configuration import CPU_KEY, REPLAY_KEY, SPEEDUPS_KEY, amounts, is_replayed
from topologies.synthetic.journey import parse
from topologies.synthetic.totals import by_component

if TYPE_CHECKING:
    from collections.abc import Callable

    from topologies.synthetic.workload import Workload

CHAIN = ((0, 1), (1, 2))


def test_an_operator_works_as_fast_as_its_supervisors_host_is(
    cluster: Any, make_workload: Callable[..., Workload]
) -> None:
    """The host's name is that of the worker's configuration; hosts that are not named have speed-up 1."""
    given = make_workload(CHAIN, work_ms=6.0, tuples=5)
    for host, work_ms in (("fog-2", 4.0), ("fog-1", 6.0)):
        storm = cluster(given, **{SPEEDUPS_KEY: {"fog-2": 1.5}, "storm.local.hostname": host})
        storm.run()
        journeys = [parse(each["trail"]) for each in storm.entries if "trail" in each]
        assert [each.work_us for each in journeys] == pytest.approx([3 * work_ms * 1000] * 5, abs=5)


def test_a_tuple_that_fails_is_sent_again_as_it_was_until_it_is_acknowledged(
    cluster: Any, make_workload: Callable[..., Workload]
) -> None:
    """Its delay counts from its first time on, and nothing ends before all tuples have come."""
    given = make_workload(CHAIN, tuples=3, warm_up_s=0.0)
    storm = cluster(given, **{REPLAY_KEY: True})
    source = storm.tasks[0]
    while len(storm.identities) < 3:
        source.next_tuple()
        storm._collect(0)
    storm._underway.clear()  # all of them are lost
    storm.now_us += 60_000_000
    first, *others = storm.identities
    for identity in storm.identities[:3]:
        source.fail(identity)
        storm._collect(0)
    for identity in others:
        source.ack(identity)
    source.next_tuple()
    assert not source._ended
    source.ack(first)
    source.fail(first)  # a late one changes nothing
    storm.run()
    assert storm.identities == [first, *others] * 2
    journeys = [parse(each["trail"]) for each in storm.entries if "trail" in each]
    assert len(journeys) == 3
    assert all(each.delay_us > 60_000_000 for each in journeys)
    (totals,) = [by_component(each["totals"]) for each in storm.entries if "end" in each]
    assert totals["operator_0"]["replayed"] == 3


def test_bolts_anchor_only_where_tuples_are_sent_again(
    cluster: Any, make_workload: Callable[..., Workload]
) -> None:
    given = make_workload(CHAIN, tuples=3)
    for replay in (True, False):
        assert [task.auto_anchor for task in cluster(given, **{REPLAY_KEY: replay}).tasks[1:]] == [replay] * 2


@pytest.mark.parametrize("value", [5, {"a": 0}, {"a": "1"}, {"a": True}, {"a": float("inf")}])
@pytest.mark.parametrize("key", [SPEEDUPS_KEY, CPU_KEY])
def test_amounts_that_are_none_are_refused(key: str, value: object) -> None:
    with pytest.raises(ValueError, match=f"{key}: expected {{NAME: NUMBER}} with numbers above 0"):
        amounts({key: value}, key)


def test_replay_is_true_or_false() -> None:
    with pytest.raises(ValueError, match=f"{REPLAY_KEY}: expected true or false, got 1"):
        is_replayed({REPLAY_KEY: 1})
