"""The daemon's records as rounds of one topology."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from bridge.record.record import RecordError, RecordWriter, RoundRecord
from bridge.settings import Settings
from bridge.wire.encoding import encode_request, encode_response
from bridge.wire.messages import Decision, PlanResponse, Price, TopologyPlan
from experiments.adaptation.recorded_rounds import planned_rounds
from tests.bridge.conftest import assigned, cluster, reading, taxi

if TYPE_CHECKING:
    from pathlib import Path

    from bridge.wire.messages import PlanRequest

NOWHERE = (-1,) * 8
# hosts: 0-2 uniroma2, 3-4 europe-west1, 5-6 us-east1
ROME = (0, 0, 1, 1, 2, 2, 0, 1)
WEST = (0, 0, 1, 1, 3, 3, 0, 1)
EAST = (0, 0, 1, 1, 5, 5, 0, 1)


def plan(supervisors: tuple[int, ...] = (), topology: str = "taxi-1", **changes: Any) -> TopologyPlan:
    decision = Decision.ASSIGN if supervisors else Decision.KEEP
    ports = (6700,) * len(supervisors)
    plain = TopologyPlan(topology, decision, supervisors, ports, "line", "ils", 0.1, 61.0)
    return replace(plain, **changes)


def request(running: tuple[int, ...], *others: Any) -> PlanRequest:
    ports = tuple(-1 if supervisor == -1 else 6700 for supervisor in running)
    return cluster(assigned(taxi(), running, ports), *others)


@pytest.fixture
def kept(tmp_path: Path) -> Any:
    """Record rounds 10 s apart from time 100 on and read them as rounds of taxi-1."""

    def rounds(*series: tuple[PlanRequest, TopologyPlan | None], since_s: float = 0.0) -> Any:
        writer = RecordWriter(tmp_path / "records", 2**20, 4)
        for number, (asked, answer) in enumerate(series):
            plans = () if answer is None else (answer,)
            writer.append(
                RoundRecord(
                    request=encode_request(asked),
                    response=encode_response(PlanResponse(1, "r", plans)),
                    settings_json=Settings().to_json(),
                    settings_digest="",
                    time_s=100.0 + 10.0 * number,
                    timings_ms={"wait": 1.0, "plan": 5.0 + number},
                    timed_out=number == 1,
                    versions={},
                )
            )
        return planned_rounds(tmp_path / "records", "taxi-1", "uniroma2", since_s)

    return rounds


def test_a_round_has_what_the_plan_said(kept: Any) -> None:
    """Time, planning time and clock of the round; status, R, F, bound and price of the topology's plan."""
    price = Price(0.25, 2, 1)
    first, second = kept((request(NOWHERE), plan(ROME)), (request(ROME), plan(WEST, bound=0.05, price=price)))
    assert (first.time_s, first.plan_ms, first.timed_out) == (100.0, 5.0, False)
    assert (first.assigned, first.status, first.response_time_ms, first.objective) == (
        True,
        "line",
        61.0,
        0.1,
    )
    assert (first.bound, first.gain, first.workers_moved) == (None, 0.0, 0)
    assert (second.timed_out, second.bound, second.gain, second.workers_moved) == (True, 0.05, 0.25, 1)


def test_executors_have_moved_if_they_are_not_where_they_last_were(kept: Any) -> None:
    """All at the first placement, none while a plan stands; those of a lost site once they are elsewhere."""
    lost = tuple(-1 if supervisor == 3 else supervisor for supervisor in WEST)
    rounds = kept(
        (request(NOWHERE), None),
        (request(NOWHERE), plan(WEST)),
        (request(WEST), plan()),
        (request(lost), plan(decision=Decision.UNPLACEABLE)),
        (request(lost), plan(EAST)),
        (request(lost), plan(decision=Decision.UNPLACEABLE)),
        (request(EAST), plan()),
    )
    assert [each.executors_moved for each in rounds] == [0, 8, 0, 0, 2, 0, 0]
    assert [each.assigned for each in rounds] == [False, True, False, False, True, False, False]
    assert rounds[3].hosts[5] is None
    assert rounds[4].hosts[5] == "us-east1-1"
    assert (rounds[0].status, rounds[0].response_time_ms) == ("", None)


def test_a_plan_that_is_not_carried_out_is_seen_as_a_move_and_back(kept: Any) -> None:
    """The round after it shows where the executors really are."""
    rounds = kept((request(ROME), plan()), (request(ROME), plan(WEST)), (request(ROME), plan()))
    assert [each.executors_moved for each in rounds] == [8, 2, 2]


def test_rounds_of_other_topologies_and_older_ones_do_not_count(kept: Any) -> None:
    other = taxi("other")
    rounds = kept(
        (request(ROME), plan()),
        (cluster(other), plan(topology="other")),
        (request(ROME, other), plan()),
        since_s=105.0,
    )
    assert [each.time_s for each in rounds] == [120.0]


def test_delays_are_those_between_sites_in_use_in_any_round_and_home(kept: Any) -> None:
    """Without the overhead of a hop; a site that was never used is left out, home is not."""
    away = tuple(supervisor + 3 for supervisor in (0, 0, 1, 1, 0, 0, 1, 1))
    (only,) = kept((request(away), plan()))
    assert only.delays == (("europe-west1", "uniroma2", pytest.approx(28.2), "coordinates"),)


def test_delays_of_all_rounds_are_those_of_the_same_sites(kept: Any) -> None:
    """Also of rounds before and after a site was in use."""
    rounds = kept((request(WEST), plan()), (request(ROME), plan()))
    for each in rounds:
        assert each.delays == (("europe-west1", "uniroma2", pytest.approx(28.2), "coordinates"),)


def test_a_direct_link_wins_and_a_site_without_readings_has_a_stand_in(kept: Any) -> None:
    """A stale reading leaves the uniform delay, marked as such; hosts without a site leave nothing."""
    asked = request(WEST)
    linked = reading(
        "uniroma2-1", "uniroma2", 0.0, links={"europe-west1-1": {"delay_ms": 31.0, "age_s": 1.0}}
    )
    measured = replace(asked, readings=(linked, *asked.readings[1:]))
    stale = replace(asked, readings=tuple(replace(each, age_ms=60_000) for each in asked.readings))
    first, second = kept((measured, plan()), (stale, plan()))
    assert first.delays == (("europe-west1", "uniroma2", 31.0, "measured"),)
    ((*_, source),) = second.delays
    assert source == "uniform"


def test_records_that_are_missing_are_no_rounds_and_broken_ones_are_named(tmp_path: Path, kept: Any) -> None:
    assert planned_rounds(tmp_path / "nowhere", "taxi-1", "uniroma2", 0.0) == ()
    broken = request(ROME)
    with pytest.raises(RecordError, match=r"round at 100\.000: .*version 99"):
        kept((replace(broken, version=99), plan()))
