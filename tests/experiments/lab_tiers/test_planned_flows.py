"""What a recorded round expected to pass the uplinks."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from bridge.record.record import RecordWriter, RoundRecord
from bridge.settings import Settings
from bridge.wire.encoding import encode_request, encode_response
from bridge.wire.messages import Decision, PlanResponse, Reading, ReadingKind, TopologyPlan
from experiments.lab_tiers.planned_flows import planned_flows
from tests.bridge.conftest import COMPONENTS, assigned, cluster, taxi

if TYPE_CHECKING:
    from pathlib import Path

NOWHERE = (-1,) * 8
# hosts: 0-2 uniroma2, 3-4 europe-west1, 5-6 us-east1; source, parser and sink at home
PLACES = (0, 0, 3, 3, 4, 4, 3, 0)
KEYS = {
    "rates": {"dataSource": 5.0, "countByWindow": 5.0},
    "tuple.bytes": {"parser": 400.0, "partialRank": 60.0},
}


def rates(per_s: float) -> Reading:
    """Every stream carries so many tuples per second."""
    pairs = ((0, 1), (1, 2), (2, 3), (2, 5), (3, 4), (5, 4), (4, 6), (6, 7))
    streams = [
        {"from": COMPONENTS[a], "stream": "default", "to": COMPONENTS[b], "rate": per_s, "tuple_bytes": None}
        for a, b in pairs
    ]
    content = {"version": 1, "time": 100.0, "sequence": 3, "lifetime_s": 180.0, "topology": "taxi-1"}
    content |= {"window_s": 60.0, "sample_rate": 1.0, "streams": streams}
    emitted = [
        {"component": name, "stream": "default", "rate": per_s, "transferred": per_s} for name in COMPONENTS
    ]
    content |= {"executors": None, "emitted": emitted, "host_pairs": [], "complete": True, "missing": []}
    return Reading(ReadingKind.RATES, "taxi-1", json.dumps(content).encode(), 1000)


@pytest.fixture
def kept(tmp_path: Path) -> Any:
    """Record rounds 30 s apart from time 100 on: the first places the topology, the others know its rates."""

    def flows(*per_s: float | None, begin_s: float = 100.0, end_s: float = 1000.0) -> Any:
        writer = RecordWriter(tmp_path / "records", 2**20, 4)
        for number, each in enumerate((None, *per_s)):
            running = NOWHERE if number == 0 else PLACES
            asked = cluster(assigned(taxi(settings=KEYS), running, -1 if number == 0 else 6700))
            if each is not None:
                asked = replace(asked, readings=(*asked.readings, rates(each)))
            plan = TopologyPlan("taxi-1", Decision.ASSIGN, PLACES, (6700,) * 8, "line", "ils", 0.1, 61.0)
            writer.append(
                RoundRecord(
                    request=encode_request(asked),
                    response=encode_response(PlanResponse(1, "r", (plan,) if number == 0 else ())),
                    settings_json=Settings().to_json(),
                    settings_digest="",
                    time_s=100.0 + 30.0 * number,
                    timings_ms={"plan": 5.0},
                    timed_out=False,
                    versions={},
                )
            )
        return planned_flows(tmp_path / "records", "taxi-1", 50.0, begin_s, end_s)

    return flows


def test_streams_between_sites_are_counted_at_both_ends(kept: Any) -> None:
    """Parser's tuples leave home and partialRank's come back, by declared rates while none are measured."""
    found = kept()
    assert not found.measured
    assert found.bytes_per_s == {"uniroma2": 5 * 460.0, "europe-west1": 5 * 460.0, "us-east1": 0.0}


def test_the_last_round_with_steady_rates_counts(kept: Any) -> None:
    """Those of the first minute are of a window that began before rows came."""
    found = kept(1.0, 2.0, 7.0, None)
    assert (found.time_s, found.measured) == (190.0, True)
    assert found.bytes_per_s["uniroma2"] == pytest.approx(7 * 460.0)
    assert not kept(1.0, 2.0, 7.0, begin_s=140.0).measured
    assert kept(1.0, 2.0, 7.0, 8.0, end_s=160.0).bytes_per_s["uniroma2"] == pytest.approx(2 * 460.0)


def test_without_a_round_there_is_no_plan(tmp_path: Path, kept: Any) -> None:
    kept()
    assert planned_flows(tmp_path / "records", "other", 50.0, 100.0, 1000.0) is None
    assert planned_flows(tmp_path / "records", "taxi-1", 500.0, 500.0, 1000.0) is None
    assert planned_flows(tmp_path / "nowhere", "taxi-1", 50.0, 100.0, 1000.0) is None
