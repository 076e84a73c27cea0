"""A round places what is missing, says why it does not, and leaves its own result alone."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bridge.round.planner import plan_round
from bridge.round.small import small_round as small
from bridge.settings import Settings
from bridge.wire.encoding import decode_request, encode_request, encode_response
from bridge.wire.messages import Decision, Grouping
from tests.bridge.round.planner_rounds import AT_ONCE, GOOD, PINNED, SCATTERED, hosts_of, only, plan, stopped


def test_a_new_topology_is_placed_near_its_pins_within_capacity(make):
    """Pins kept, two executors per host at most, one worker per host, and a status that says how."""
    request = make.cluster(make.taxi(settings=PINNED))
    answer = only(request)
    hosts = hosts_of(request, answer)
    assert answer.decision is Decision.ASSIGN
    assert hosts[0].startswith("uniroma2")
    assert hosts[7].startswith("uniroma2")
    assert all(hosts.count(host) <= 2 for host in hosts)
    assert set(answer.executor_port) == {6700}
    assert answer.price.executors_moved == 0
    assert answer.status.startswith(
        f"placed by ils (auto): {answer.response_time_ms:.1f} ms response time over "
    )
    assert answer.status.endswith("delays from coordinates 7/7; CPU as declared; unit rates")


def test_the_same_request_gives_the_same_bytes(make):
    """No clock and no chance in the response."""
    request = make.cluster(make.taxi("a", PINNED), make.assigned(make.taxi("b"), SCATTERED))
    first = encode_response(plan(request).response)
    assert encode_response(plan(decode_request(encode_request(request))).response) == first


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    strategy=st.tuples(
        st.sampled_from(["local-search", "greedy", "greedy-no-penalty", "even"]), st.integers(0, 3)
    ),
    slots=st.lists(st.integers(-1, 6), min_size=8, max_size=8),
    second=st.integers(0, 6),
    pinned=st.booleans(),
)
def test_planning_on_the_result_of_a_plan_moves_nothing(make, strategy, slots, second, pinned):
    """Whatever runs or is missing at first, a second round keeps everything."""
    settings_ = {"strategy": strategy[0], "seed": strategy[1], **(PINNED if pinned else {})}
    first = make.assigned(make.taxi("a", settings_), slots, [6700 if slot >= 0 else -1 for slot in slots])
    other = make.assigned(make.chain("b", [1, 1], [Grouping.SHUFFLE]), [second] * 2, 6701)
    request = make.cluster(first, other)
    free_moves = {"move": AT_ONCE.model_copy(update={"max_restarts_per_round": 1000})}
    done = plan(request, **free_moves)
    assert done.traces == ()
    again = plan(make.carried_out(request, done.response), **free_moves)
    assert all(answer.decision is not Decision.ASSIGN for answer in again.response.plans)


def test_only_the_missing_executors_are_placed(make):
    """Three of eight lost their worker: the five that run stay where they are."""
    slots = [*GOOD[:5], -1, -1, -1]
    request = make.cluster(make.assigned(make.taxi(), slots, [6701] * 5 + [-1] * 3))
    answer = only(request)
    assert answer.decision is Decision.ASSIGN
    assert list(answer.executor_supervisor[:5]) == slots[:5]
    assert list(answer.executor_port[:5]) == [6701] * 5
    assert answer.price.executors_moved == 0


@pytest.mark.parametrize(
    ("settings_", "reason"),
    [
        (
            {"pin": {"parser": "site:atlantis"}},
            "parser is pinned to site:atlantis, which is not in the cluster",
        ),
        ({"avoid": "site:uniroma2"}, "all nodes together have 8"),
        (
            {
                "pin": {
                    "parser": "host:uniroma2-1",
                    "metronome": "host:uniroma2-1",
                    "globalRank": "host:uniroma2-1",
                }
            },
            "short",
        ),
    ],
)
def test_what_cannot_be_placed_is_left_with_the_reason_and_the_others_go_on(make, settings_, reason):
    """Unknown site, too little room: the second topology is placed all the same."""
    odd = make.taxi("a", settings_)
    request = make.cluster(odd, make.chain("b", [1, 1], [Grouping.SHUFFLE]))
    if reason.endswith("8"):
        odd = replace(make.chain("a", [5, 5], [Grouping.SHUFFLE]), settings_json=odd.settings_json)
        request = replace(request, topologies=(odd, request.topologies[1]))
    done = plan(request)
    first, second = done.response.plans
    assert first.decision is Decision.UNPLACEABLE
    assert first.status.startswith("not placed: ")
    assert reason in first.status
    assert second.decision is Decision.ASSIGN


def test_of_equal_topologies_the_first_by_id_comes_first(make):
    """Fourteen places: the first by id gets its eight, the other one does not fit."""
    request = make.cluster(make.taxi("b"), make.taxi("a"))
    by_id = {answer.topology_id: answer for answer in plan(request).response.plans}
    assert by_id["a"].decision is Decision.ASSIGN
    assert by_id["b"].decision is Decision.UNPLACEABLE
    assert "6" in by_id["b"].status


def test_bad_settings_are_named_and_the_default_is_used(make):
    """The topology is placed, status and report name the key."""
    done = plan(make.cluster(make.taxi(settings={"strategy": "magic", "colour": "red"})))
    answer = done.response.plans[0]
    assert (answer.decision, answer.strategy) == (Decision.ASSIGN, "auto")
    assert "setting ignored: topology.stormplace.colour: unknown key" in answer.status
    assert done.setting_faults[0][0] == "taxi-1"
    assert len(done.setting_faults[0][1]) == 2


def test_stale_and_malformed_readings_are_named_in_the_status(make):
    """Five of seven hosts measured: the others are degraded, the fault is quoted, dead ZooKeeper is named."""
    request = make.cluster(make.taxi())
    readings = list(request.readings)
    readings[0] = replace(readings[0], age_ms=10**6)
    readings[1] = replace(readings[1], payload=b"{")
    status = only(replace(request, readings=tuple(readings), readings_live=False)).status
    assert "delays from coordinates 5/7, 2 by site median, 1 stale" in status
    assert "readings are not live (no connection to ZooKeeper)" in status
    assert "reading of uniroma2-2 is malformed" in status
    assert "\n" not in status


def test_a_topology_that_breaks_the_planner_does_not_cost_the_others_their_plan(make, monkeypatch):
    """The exception becomes a reason and a trace; running topologies are kept, new ones left to Storm."""
    genuine = small.place_missing

    def fragile(state, task, search, allowance, sight):
        if task.topology.id != "b":
            raise ZeroDivisionError("boom")
        return genuine(state, task, search, allowance, sight)

    monkeypatch.setattr(small, "place_missing", fragile)
    request = make.cluster(
        make.assigned(make.taxi("a"), GOOD), make.chain("b", [1], []), make.chain("c", [1], [])
    )
    done = plan(request)
    kept, placed = done.response.plans
    assert (kept.topology_id, kept.decision) == ("a", Decision.KEEP)
    assert kept.status.startswith("kept: planning failed (ZeroDivisionError: boom)")
    assert (placed.topology_id, placed.decision) == ("b", Decision.ASSIGN)
    assert done.left_out == (("c", "planning failed (ZeroDivisionError: boom)"),)
    assert [topology for topology, _ in done.traces] == ["a", "c"]
    assert "ZeroDivisionError" in done.traces[0][1]


def test_a_plan_that_fails_the_daemons_check_is_not_sent(make, monkeypatch):
    """Whatever made it."""
    monkeypatch.setattr(small, "assign_slots", lambda *_, **__: ((0, 6700),) * 8)
    done = plan(make.cluster(make.taxi()))
    assert done.response.plans == ()
    assert "uniroma2-1 would be overfull" in done.left_out[0][1]


def test_without_time_new_topologies_are_left_to_storm_and_running_ones_kept(make):
    """Storm's own scheduler serves what the answer leaves out; the report says that time ran out."""
    request = make.cluster(make.taxi("a"), make.assigned(make.chain("b", [1], []), [0], 6701))
    done = plan_round(replace(request, deadline_ms=0), Settings(), stopped)
    assert [(answer.topology_id, answer.decision) for answer in done.response.plans] == [("b", Decision.KEEP)]
    assert "no time left in this round" in done.response.plans[0].status
    assert done.left_out == (("a", "no time left in this round"),)
    assert done.timed_out


def test_other_weights_are_respected(make):
    """Availability alone: every executor that may goes to hosts that are never down."""
    request = make.cluster(make.chain("a", [1, 1], [Grouping.SHUFFLE]))
    request = replace(
        request,
        topologies=(
            replace(
                request.topologies[0],
                settings_json=json.dumps({"topology.stormplace.weights": {"availability": 1.0}}),
            ),
        ),
        readings=tuple(
            make.reading(each.host, None, 0.0, availability=1.0 if each.host == "us-east1-2" else 0.5)
            for each in request.supervisors
        ),
    )
    assert set(hosts_of(request, only(request))) == {"us-east1-2"}


def test_an_empty_round_has_an_empty_answer(make):
    """No supervisors, no topologies; and a topology without executors is kept."""
    assert plan(replace(make.cluster(), supervisors=(), readings=())).response.plans == ()
    assert only(make.cluster(make.chain("a", [0], []))).decision is Decision.KEEP


def test_a_cluster_without_hosts_places_nothing(make):
    """The reason is named."""
    answer = only(replace(make.cluster(make.taxi()), supervisors=(), readings=()))
    assert answer.decision is Decision.UNPLACEABLE
    assert answer.status.startswith("not placed: no usable host is permitted to dataSource")
