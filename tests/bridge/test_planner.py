"""A round places what is missing, moves only for a stated gain, and leaves its own result alone."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bridge import planner
from bridge.messages import Decision, Grouping
from bridge.planner import plan_round
from bridge.settings import MoveSettings, Settings
from bridge.wire import decode_request, encode_request, encode_response

PINNED = {"pin": {"dataSource": "site:uniroma2", "globalRank": "site:uniroma2"}}
# Hosts: 0-2 uniroma2, 3-4 europe-west1, 5-6 us-east1; few long hops, then many of them.
GOOD = [0, 0, 1, 1, 2, 2, 3, 3]
SCATTERED = [0, 5, 3, 6, 4, 5, 3, 1]


def stopped():
    return 0.0


def plan(request, **sections):
    return plan_round(request, Settings(**sections), stopped)


def only(request, **sections):
    done = plan(request, **sections)
    assert done.report.traces == ()
    return done.response.plans[0]


def hosts_of(request, answer):
    return [request.supervisors[index].host for index in answer.executor_supervisor]


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
        f"placed by local-search: {answer.response_time_ms:.1f} ms response time over "
    )
    assert answer.status.endswith("delays from coordinates 7/7 (error 8 %); unit rates")


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
    free_moves = {"move": MoveSettings(max_moves_per_round=1000)}
    done = plan(request, **free_moves)
    assert done.report.traces == ()
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


def test_a_bad_running_placement_is_left_for_a_gain_that_is_worth_it(make):
    """The scattered placement moves, the status and the price tell the gain."""
    request = make.cluster(make.assigned(make.taxi(settings=PINNED), SCATTERED))
    answer = only(request)
    assert answer.decision is Decision.ASSIGN
    assert answer.price.gain >= 0.2
    assert answer.status.startswith(f"moved by local-search for a gain of {answer.price.gain * 100:.0f} %: ")
    assert answer.price.executors_moved == sum(
        old != new for old, new in zip(SCATTERED, answer.executor_supervisor, strict=True)
    )
    assert answer.price.workers_moved >= 1


@pytest.mark.parametrize(
    ("move", "reason"),
    [
        ({"min_gain": 0.9}, "kept: best candidate gains "),
        ({"min_gain_ms": 400.0}, "ms < 400.0 ms"),
        ({"max_moves_per_round": 3}, "executors, 3 may move"),
        ({"min_gain_ms": 5000.0}, "kept: no placement can gain more than 437.2 ms"),
    ],
)
def test_a_gain_below_a_threshold_or_beyond_the_cap_moves_nothing(make, move, reason):
    """Each of the limits keeps the scattered placement, and the status says which."""
    request = make.cluster(make.assigned(make.taxi(settings=PINNED), SCATTERED))
    answer = only(request, move=MoveSettings(**move))
    assert (answer.decision, answer.executor_supervisor, answer.price) == (Decision.KEEP, (), None)
    assert reason in answer.status


def test_a_good_running_placement_is_kept(make):
    """No candidate passes the thresholds."""
    answer = only(make.cluster(make.assigned(make.taxi(), GOOD)))
    assert answer.decision is Decision.KEEP
    assert answer.status.startswith("kept: ")
    assert answer.response_time_ms is not None


def test_no_strategy_is_asked_where_no_placement_can_gain_enough(make, monkeypatch):
    """All in one worker takes 2 ms, the least that two executors can: the search would be in vain."""
    roomy = make.assigned(make.chain("a", [1, 1], [Grouping.SHUFFLE]), [0, 0])
    monkeypatch.setattr("bridge.search.plan", lambda *_, **__: pytest.fail("a strategy was asked"))
    answer = only(make.cluster(roomy))
    assert answer.decision is Decision.KEEP
    assert answer.status.startswith("kept: no placement can gain more than 0.0 ms; 2.0 ms response time")


def test_the_cap_holds_over_all_topologies_of_a_round(make):
    """Two scattered topologies on separate ports, eight moves in all."""
    first = make.assigned(make.taxi("a", PINNED), SCATTERED, 6700)
    second = make.assigned(make.taxi("b", PINNED), SCATTERED, 6701)
    request = make.cluster(first, second)
    roomy = tuple(
        replace(each, meta={**each.meta, "stormplace.executors": "4"}) for each in request.supervisors
    )
    done = plan(replace(request, supervisors=roomy), move=MoveSettings(max_moves_per_round=8))
    assert [answer.decision for answer in done.response.plans] == [Decision.ASSIGN, Decision.KEEP]
    assert 1 <= done.report.moves <= 8


def test_a_frozen_topology_keeps_its_executors_but_gets_the_missing_ones(make):
    """Frozen means that nothing that runs moves."""
    frozen = {**PINNED, "frozen": True}
    kept = only(make.cluster(make.assigned(make.taxi(settings=frozen), SCATTERED)))
    assert (kept.decision, kept.status.split(";")[0]) == (Decision.KEEP, "kept: frozen")
    slots = [*SCATTERED[:7], -1]
    partial = only(make.cluster(make.assigned(make.taxi(settings=frozen), slots, [6700] * 7 + [-1])))
    assert partial.decision is Decision.ASSIGN
    assert list(partial.executor_supervisor[:7]) == SCATTERED[:7]


def test_an_executor_against_its_pin_is_brought_home(make):
    """dataSource runs at us-east1 against its pin: it alone moves unless more is worth it."""
    slots = [5, 0, 1, 1, 3, 3, 2, 2]
    request = make.cluster(make.assigned(make.taxi(settings=PINNED), slots))
    answer = only(request, move=MoveSettings(min_gain=1.0))
    assert answer.decision is Decision.ASSIGN
    assert hosts_of(request, answer)[0] == "uniroma2-1"
    assert list(answer.executor_supervisor[1:7]) == slots[1:7]
    assert answer.price.executors_moved == 1
    assert "moved because a pin or avoidance was broken" in answer.status


def test_running_executors_make_room_only_within_the_cap(make):
    """globalRank is pinned to a full host: others move if they may, else the reason is told."""
    settings_ = {"pin": {"globalRank": "host:uniroma2-1"}}
    slots = [0, 0, 1, 1, 2, 2, 3, -1]
    request = make.cluster(make.assigned(make.taxi(settings=settings_), slots, [6700] * 7 + [-1]))
    answer = only(request)
    assert answer.decision is Decision.ASSIGN
    assert hosts_of(request, answer)[7] == "uniroma2-1"
    assert "making room" in answer.status
    refused = only(request, move=MoveSettings(max_moves_per_round=0))
    assert refused.decision is Decision.UNPLACEABLE
    assert refused.status.startswith("not placed: making room would move ")


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


def test_topologies_share_the_capacity_in_the_order_of_their_ids(make):
    """Fourteen places: the first by id gets its eight, the other one does not fit."""
    request = make.cluster(make.taxi("b"), make.taxi("a"))
    by_id = {answer.topology_id: answer for answer in plan(request).response.plans}
    assert by_id["a"].decision is Decision.ASSIGN
    assert by_id["b"].decision is Decision.UNPLACEABLE
    assert "6" in by_id["b"].status


def test_executors_on_a_dead_supervisor_stay_unless_they_are_moved_for_a_gain(make):
    """Storm keeps them running: they are no reason to move, and a host that is dead gets nothing new."""
    request = make.cluster(make.assigned(make.taxi(), GOOD))
    dead = replace(request.supervisors[0], alive=False)
    request = replace(request, supervisors=(dead, *request.supervisors[1:]))
    assert only(request, move=MoveSettings(min_gain=1.0)).decision is Decision.KEEP
    partial = make.assigned(make.taxi(), [*GOOD[:7], -1], [6700] * 7 + [-1])
    answer = only(replace(request, topologies=(partial,)), move=MoveSettings(min_gain=1.0))
    assert answer.executor_supervisor[:2] == (0, 0)
    assert answer.executor_supervisor[7] != 0


def test_a_worker_of_a_dead_supervisor_never_changes(make):
    """One of its two executors is against its pin: both leave, as nobody would restart the rest."""
    settings_ = {"pin": {"dataSource": "host:uniroma2-2"}}
    slots = [0, 0, 2, 2, 3, 3, 4, 4]
    request = make.cluster(make.assigned(make.taxi(settings=settings_), slots))
    dead = replace(request.supervisors[0], alive=False)
    answer = only(
        replace(request, supervisors=(dead, *request.supervisors[1:])), move=MoveSettings(min_gain=1.0)
    )
    assert answer.decision is Decision.ASSIGN
    assert 0 not in answer.executor_supervisor
    assert list(answer.executor_supervisor[2:]) == slots[2:]


def test_bad_settings_are_named_and_the_default_is_used(make):
    """The topology is placed, status and report name the key."""
    done = plan(make.cluster(make.taxi(settings={"strategy": "magic", "colour": "red"})))
    answer = done.response.plans[0]
    assert (answer.decision, answer.strategy) == (Decision.ASSIGN, "local-search")
    assert "setting ignored: topology.stormplace.colour: unknown key" in answer.status
    assert done.report.setting_faults[0][0] == "taxi-1"
    assert len(done.report.setting_faults[0][1]) == 2


def test_stale_and_malformed_readings_are_told_in_the_status(make):
    """Five of seven hosts measured: the others are degraded, the fault is quoted, dead ZooKeeper is named."""
    request = make.cluster(make.taxi())
    readings = list(request.readings)
    readings[0] = replace(readings[0], age_ms=10**6)
    readings[1] = replace(readings[1], payload=b"{")
    status = only(replace(request, readings=tuple(readings), readings_live=False)).status
    assert "delays from coordinates 5/7 (error 8 %), 2 by site median, 1 stale" in status
    assert "readings are not live (no connection to ZooKeeper)" in status
    assert "reading of uniroma2-2 is malformed" in status
    assert "\n" not in status


def test_a_topology_that_breaks_the_planner_does_not_cost_the_others_their_plan(make, monkeypatch):
    """The exception becomes a reason and a trace; running topologies are kept, new ones left to Storm."""
    genuine = planner.place_missing

    def fragile(state, task, search, moves_left):
        if task.topology.id != "b":
            raise ZeroDivisionError("boom")
        return genuine(state, task, search, moves_left)

    monkeypatch.setattr(planner, "place_missing", fragile)
    request = make.cluster(
        make.assigned(make.taxi("a"), GOOD), make.chain("b", [1], []), make.chain("c", [1], [])
    )
    done = plan(request)
    kept, placed = done.response.plans
    assert (kept.topology_id, kept.decision) == ("a", Decision.KEEP)
    assert kept.status.startswith("kept: planning failed (ZeroDivisionError: boom)")
    assert (placed.topology_id, placed.decision) == ("b", Decision.ASSIGN)
    assert done.report.left_out == (("c", "planning failed (ZeroDivisionError: boom)"),)
    assert [topology for topology, _ in done.report.traces] == ["a", "c"]
    assert "ZeroDivisionError" in done.report.traces[0][1]


def test_a_plan_that_fails_the_daemons_check_is_not_sent(make, monkeypatch):
    """Whatever made it."""
    monkeypatch.setattr(planner, "assign_slots", lambda *_: ((0, 6700),) * 8)
    done = plan(make.cluster(make.taxi()))
    assert done.response.plans == ()
    assert "uniroma2-1 would be overfull" in done.report.left_out[0][1]


def test_without_time_new_topologies_are_left_to_storm_and_running_ones_kept(make):
    """Storm's own scheduler serves what the answer leaves out; the report says that time ran out."""
    request = make.cluster(make.taxi("a"), make.assigned(make.chain("b", [1], []), [0], 6701))
    done = plan_round(replace(request, deadline_ms=0), Settings(), stopped)
    assert [(answer.topology_id, answer.decision) for answer in done.response.plans] == [("b", Decision.KEEP)]
    assert "no time left in this round" in done.response.plans[0].status
    assert done.report.left_out == (("a", "no time left in this round"),)
    assert done.report.timed_out


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
    """The reason is told."""
    answer = only(replace(make.cluster(make.taxi()), supervisors=(), readings=()))
    assert answer.decision is Decision.UNPLACEABLE
    assert answer.status.startswith("not placed: no usable host is permitted to dataSource")


def test_thousands_of_running_executors_are_kept(make):
    """36,000 executors on 1,900 hosts decode and are all kept, those above the limit without a search."""
    supervisors = tuple(make.supervisor(f"host-{index:04d}", f"site{index % 20}") for index in range(1900))
    topologies = tuple(
        make.assigned(
            make.chain(f"t{number}", [3000] * 3, [Grouping.SHUFFLE] * 2),
            [(index * 7 + number) % 1900 for index in range(9000)],
            6700 + number // 2,
        )
        for number in range(4)
    )
    request = replace(make.cluster(*topologies), supervisors=supervisors, readings=())
    done = plan(decode_request(encode_request(request)))
    assert {answer.decision for answer in done.response.plans} == {Decision.KEEP}
    assert "9000 executors are above plan.max_executors 1000" in done.response.plans[0].status


def test_room_that_a_later_topology_makes_is_used_in_the_same_round(make):
    """`a` is looked at before `b` leaves the host that `a` wants: a second pass sees it."""
    pair = [Grouping.SHUFFLE]

    def with_settings(topology, **values):
        keys = {f"topology.stormplace.{key}": value for key, value in values.items()}
        return replace(topology, settings_json=json.dumps(keys))

    first = with_settings(
        make.chain("a", [1, 1], pair), pin={"c0": "host:uniroma2-1"}, avoid="site:europe-west1"
    )
    second = with_settings(make.chain("b", [1, 1], pair), pin={"c0": "host:europe-west1-1"})
    filling = with_settings(make.chain("c", [3, 3], pair), frozen=True)
    request = make.cluster(
        make.assigned(first, [0, 5]),
        make.assigned(second, [3, 0], [6700, 6701]),
        make.assigned(filling, [1, 1, 2, 2, 4, 4]),
    )
    done = plan(request)
    assert [answer.decision for answer in done.response.plans] == [
        Decision.ASSIGN,
        Decision.ASSIGN,
        Decision.KEEP,
    ]
    assert done.response.plans[0].executor_supervisor == (0, 0)
    assert done.response.plans[1].executor_supervisor == (3, 3)
    again = plan(make.carried_out(request, done.response))
    assert again.report.moves == 0
