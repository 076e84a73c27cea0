"""Running executors move only for a stated gain, within the cap, or because they must."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from bridge.problem.task import make_task
from bridge.round.planner import plan_round
from bridge.round.round_report import HOLD_MS
from bridge.settings import MoveSettings, PlanSettings, Settings
from bridge.wire.encoding import decode_request, encode_request
from bridge.wire.messages import Decision, Grouping
from tests.bridge.round.planner_rounds import AT_ONCE, GOOD, PINNED, SCATTERED, hosts_of, only, plan


def test_a_bad_running_placement_is_left_for_a_gain_that_is_worth_it(make):
    """The scattered placement moves, the status and the price state the gain."""
    request = make.cluster(make.assigned(make.taxi(settings=PINNED), SCATTERED))
    answer = only(request)
    assert answer.decision is Decision.ASSIGN
    assert answer.price.gain >= 0.2
    assert f" (default); by ils (auto) for a gain of {answer.price.gain * 100:.0f} %: " in answer.status
    assert answer.price.executors_moved == sum(
        old != new for old, new in zip(SCATTERED, answer.executor_supervisor, strict=True)
    )
    assert answer.price.workers_moved >= 1
    assert answer.price.executors_restarted >= answer.price.executors_moved


@pytest.mark.parametrize(
    ("move", "reason"),
    [
        ({"min_gain": 0.9}, "kept: no candidate gains 90 % (ils (auto)); "),
        ({"min_gain_ms": 400.0}, "kept: no candidate gains 400 ms (ils (auto)); "),
        (
            {"max_restarts_per_round": 0},
            "gains enough but restarts executors, 0 may restart in a round (ils (auto)); ",
        ),
        ({"min_gain_ms": 5000.0}, "kept: no placement can gain enough; "),
    ],
)
def test_a_gain_below_a_threshold_or_beyond_the_cap_moves_nothing(make, move, reason):
    """Each of the limits keeps the scattered placement, and the status says which."""
    request = make.cluster(make.assigned(make.taxi(settings=PINNED), SCATTERED))
    answer = only(request, move=AT_ONCE.model_copy(update=move))
    assert (answer.decision, answer.executor_supervisor, answer.price) == (Decision.KEEP, (), None)
    assert reason in answer.status


@pytest.mark.parametrize(("error", "sigmas", "moves"), [(0.08, 2, True), (0.3, 20, False), (0.3, 0, True)])
def test_a_gain_within_the_noise_of_delays_is_not_believed(make, error, sigmas, moves):
    """The error of coordinates and the sigmas that are asked for decide; with none it is not asked."""
    request = make.cluster(make.assigned(make.taxi(settings=PINNED), SCATTERED))
    readings = tuple(
        replace(each, payload=json.dumps({**json.loads(each.payload), "error": error}).encode())
        for each in request.readings
    )
    move = AT_ONCE.model_copy(update={"noise_sigmas": sigmas})
    answer = only(replace(request, readings=readings), move=move)
    assert (answer.decision is Decision.ASSIGN) == moves
    if not moves:
        assert "the gain of the best candidate may be noise of the measured delays" in answer.status


def test_a_gain_counts_from_its_threshold_on_and_restarts_up_to_the_cap(make):
    """What is just as much as the settings say is enough, and a little less is not."""
    request = make.cluster(make.assigned(make.taxi(settings=PINNED), SCATTERED))
    moved, kept = only(request), only(request, move=AT_ONCE.model_copy(update={"min_gain": 1.0}))
    gain_ms = kept.response_time_ms - moved.response_time_ms
    for enough, too_much, reason in (
        ({"min_gain": moved.price.gain}, {"min_gain": moved.price.gain + 1e-9}, "no candidate gains "),
        (
            {"min_gain_ms": gain_ms},
            {"min_gain_ms": gain_ms + 1e-6},
            f"no candidate gains {gain_ms:g} ms ",
        ),
    ):
        assert only(request, move=AT_ONCE.model_copy(update=enough)) == moved
        less = only(request, move=AT_ONCE.model_copy(update=too_much))
        assert less.decision is Decision.KEEP
        assert less.status.startswith(f"kept: {reason}")
    restarts = moved.price.executors_restarted
    assert only(request, move=replace_restarts(AT_ONCE, restarts)) == moved
    less = only(request, move=replace_restarts(AT_ONCE, restarts - 1))
    assert less.price.executors_restarted < restarts


def test_a_topology_is_too_large_to_be_moved_from_one_executor_above_the_limit_on(make):
    """Eight executors are within a limit of eight."""
    request = make.cluster(make.assigned(make.taxi(settings=PINNED), SCATTERED))
    assert only(request, plan=PlanSettings(max_executors=8)).decision is Decision.ASSIGN
    kept = only(request, plan=PlanSettings(max_executors=7))
    assert kept.decision is Decision.KEEP
    assert kept.status.startswith("kept: 8 executors are above plan.max_executors 7; ")


def test_a_good_running_placement_is_kept(make):
    """No candidate passes the thresholds."""
    answer = only(make.cluster(make.assigned(make.taxi(), GOOD)))
    assert answer.decision is Decision.KEEP
    assert answer.status.startswith("kept: ")
    assert answer.response_time_ms is not None


def test_no_strategy_is_asked_where_no_placement_can_gain_enough(make, monkeypatch):
    """All in one worker takes 2 ms, the least that two executors can: the search would be in vain."""
    roomy = make.assigned(make.chain("a", [1, 1], [Grouping.SHUFFLE]), [0, 0])
    monkeypatch.setattr(
        "bridge.round.small.search.plan", lambda *_, **__: pytest.fail("a strategy was asked")
    )
    answer = only(make.cluster(roomy))
    assert answer.decision is Decision.KEEP
    assert answer.status.startswith("kept: no placement can gain enough; about 2 ms response time")


def test_the_cap_holds_over_all_topologies_of_a_round(make):
    """Two scattered topologies on separate ports: the second one moves if what the first leaves is enough."""
    first = make.assigned(make.taxi("a", PINNED), SCATTERED, 6700)
    second = make.assigned(make.taxi("b", PINNED), SCATTERED, 6701)
    request = make.cluster(first, second)
    roomy = tuple(
        replace(each, meta={**each.meta, "stormplace.executors": "4"}) for each in request.supervisors
    )
    request = replace(request, supervisors=roomy)
    free = plan(request)
    restarts = [answer.price.executors_restarted for answer in free.response.plans]
    capped, short = (
        plan(request, move=replace_restarts(AT_ONCE, most)) for most in (sum(restarts), sum(restarts) - 1)
    )
    assert capped.response == free.response
    assert capped.restarts == sum(restarts)
    assert capped.moves == sum(answer.price.executors_moved for answer in free.response.plans)
    assert short.response.plans[0] == free.response.plans[0]
    assert short.response.plans[1].decision is Decision.KEEP
    assert short.response.plans[1].status.startswith(
        "kept: best candidate gains enough but restarts more executors than may still restart in this round, "
        f"{sum(restarts) - 1} in all ("
    )
    assert short.restarts == restarts[0]


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
    answer = only(request, move=AT_ONCE.model_copy(update={"min_gain": 1.0}))
    assert answer.decision is Decision.ASSIGN
    assert hosts_of(request, answer)[0] == "uniroma2-1"
    assert list(answer.executor_supervisor[1:7]) == slots[1:7]
    assert answer.price.executors_moved == 1
    assert "moved because a pin or avoidance was broken" in answer.status


def test_running_executors_make_room_only_within_the_cap(make):
    """globalRank is pinned to a full host: others move if they may, else the reason is named."""
    settings_ = {"pin": {"globalRank": "host:uniroma2-1"}}
    slots = [0, 0, 1, 1, 2, 2, 3, -1]
    request = make.cluster(make.assigned(make.taxi(settings=settings_), slots, [6700] * 7 + [-1]))
    answer = only(request)
    assert answer.decision is Decision.ASSIGN
    assert hosts_of(request, answer)[7] == "uniroma2-1"
    assert "; placed by ils (auto) after making room: " in answer.status
    restarts = answer.price.executors_restarted
    assert only(request, move=replace_restarts(AT_ONCE, restarts)) == answer
    refused = only(request, move=replace_restarts(AT_ONCE, restarts - 1))
    assert refused.decision is Decision.UNPLACEABLE
    less = restarts - 1
    start = f"not placed: making room would restart {restarts} running executors, {less} may restart; "
    assert refused.status.startswith(start)


def test_executors_on_a_dead_supervisor_stay_unless_they_are_moved_for_a_gain(make):
    """Storm keeps them running: they are no reason to move, and a host that is dead gets nothing new."""
    request = make.cluster(make.assigned(make.taxi(), GOOD))
    dead = replace(request.supervisors[0], alive=False)
    request = replace(request, supervisors=(dead, *request.supervisors[1:]))
    assert only(request, move=AT_ONCE.model_copy(update={"min_gain": 1.0})).decision is Decision.KEEP
    partial = make.assigned(make.taxi(), [*GOOD[:7], -1], [6700] * 7 + [-1])
    answer = only(replace(request, topologies=(partial,)), move=MoveSettings(min_gain=1.0))
    assert answer.executor_supervisor[:2] == (0, 0)
    assert answer.executor_supervisor[7] != 0


def test_a_worker_of_a_dead_supervisor_never_changes(make):
    """One of its two executors is against its pin: both leave, as no supervisor would restart the rest."""
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


def test_a_group_that_no_round_allows_goes_alone(make):
    """Both executors of the worker are against their pin and leave together; one may move in a round."""
    settings_ = {"pin": {"dataSource": "host:uniroma2-2", "parser": "host:uniroma2-2"}}
    request = make.cluster(make.assigned(make.taxi(settings=settings_), [0, 0, 2, 2, 3, 3, 4, 4]))
    dead = replace(request.supervisors[0], alive=False)
    request = replace(request, supervisors=(dead, *request.supervisors[1:]))
    answer = only(request, move=MoveSettings(max_restarts_per_round=1, min_gain=1.0))
    assert list(answer.executor_supervisor[:2]) == [1, 1]


def test_broken_pins_that_have_to_wait_are_named_small_groups_first(make):
    """Three executors are against their pins, two of them in one worker of a dead host: one may move."""
    settings_ = {"pin": dict.fromkeys(("dataSource", "parser", "filterByCoordinates"), "host:uniroma2-2")}
    request = make.cluster(make.assigned(make.taxi(settings=settings_), [0, 0, 2, 2, 3, 3, 4, 4]))
    dead = replace(request.supervisors[0], alive=False)
    roomy = replace(request.supervisors[1], meta={"stormplace.executors": "3"})
    request = replace(request, supervisors=(dead, roomy, *request.supervisors[2:]))
    move = MoveSettings(max_restarts_per_round=1, min_gain=1.0)
    answer = only(request, move=move)
    assert list(answer.executor_supervisor[:3]) == [0, 0, 1]
    assert "1 moved because a pin or avoidance was broken, 2 more wait" in answer.status
    stuck = only(request, move=replace_restarts(move, 0))
    start = "kept (pin not met): 3 executors wait to move, 0 may restart in this round"
    assert stuck.status.startswith(start)


def replace_restarts(move, most):
    return move.model_copy(update={"max_restarts_per_round": most})


def test_thousands_of_running_executors_are_kept(make):
    """36,000 executors on 1,900 hosts decode and are all kept, without a search."""
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
    assert {answer.status for answer in done.response.plans} == {"kept: runs completely"}


def test_a_topology_above_the_limit_is_not_moved_for_a_gain(make):
    answer = only(make.cluster(make.assigned(make.taxi(), SCATTERED)), plan=PlanSettings(max_executors=7))
    assert answer.decision is Decision.KEEP
    assert "8 executors are above plan.max_executors 7" in answer.status


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
    assert again.moves == 0


def test_nothing_moves_for_a_gain_where_no_delay_is_known(make):
    """Neither readings nor sites: the same guess stands for every pair of hosts."""
    request = make.cluster(make.assigned(make.taxi(), SCATTERED))
    bare = tuple(replace(each, meta={"stormplace.executors": "2"}) for each in request.supervisors)
    answer = only(replace(request, supervisors=bare, readings=()))
    assert answer.decision is Decision.KEEP
    assert answer.status.startswith("kept: delays between hosts are not known")


@pytest.mark.parametrize(
    ("settings_", "slots", "held"), [({"frozen": True}, GOOD, True), ({}, GOOD, False), ({}, None, False)]
)
def test_a_round_without_anything_to_look_for_need_not_be_repeated(make, settings_, slots, held):
    """What is frozen stays as it is until something changes; a gain or a missing executor is looked for."""
    topology = make.taxi(settings=settings_)
    request = make.cluster(topology if slots is None else make.assigned(topology, slots))
    assert plan(request).response.hold_ms == (HOLD_MS if held else None)


@pytest.mark.parametrize(
    ("settings_", "slots"), [({}, SCATTERED), (PINNED, [5, 0, 1, 1, 3, 3, 2, 2]), ({"frozen": True}, GOOD)]
)
def test_a_round_whose_time_ran_out_before_it_looked_is_repeated(make, settings_, slots):
    """A gain or a broken pin would wait until something changes; that all are frozen was not found out."""
    topology = make.assigned(make.taxi(settings=settings_), slots)
    done = plan_round(make.cluster(topology), Settings(move=AT_ONCE), lambda: 3600.0, began_s=0.0)
    assert done.timed_out
    assert [answer.decision for answer in done.response.plans] == [Decision.KEEP]
    assert done.response.hold_ms is None


def test_the_clock_is_asked_before_each_topology_is_looked_at(make, monkeypatch):
    """There may be very many topologies, and time that runs out while all of them are prepared is lost."""
    events = []

    def clock():
        events.append("clock")
        return 0.0

    def recorded(*args):
        events.append("task")
        return make_task(*args)

    monkeypatch.setattr("bridge.round.small.small_round.make_task", recorded)
    frozen = {"frozen": True}
    topologies = [
        make.assigned(make.taxi(name, frozen), GOOD, port) for name, port in (("a", 6700), ("b", 6701))
    ]
    plan_round(make.cluster(*topologies), Settings(), clock, began_s=0.0)
    # Once for when the time is over.
    assert events[:5] == ["clock", "clock", "task", "clock", "task"]
    assert events.count("task") == 2


def test_of_candidates_that_gain_about_the_same_the_one_that_restarts_less_is_taken(make, monkeypatch):
    """Greedy builds anew and moves all; steps from where executors run move the one that stands badly."""
    slots = [1, 1, 2, 2, 0, 0, 3, 5]
    request = make.cluster(make.assigned(make.taxi(settings={"strategy": "greedy"}), slots))
    answer = only(request)
    assert answer.decision is Decision.ASSIGN
    monkeypatch.setattr("bridge.round.small.search.Search.nearby", lambda *_: None)
    anew = only(request)
    assert answer.price.gain >= anew.price.gain - 0.01
    assert answer.price.executors_restarted < anew.price.executors_restarted


def test_steps_from_the_running_placement_find_what_the_strategy_does_not(make, monkeypatch):
    """The strategy has no better placement than the one that runs."""
    request = make.cluster(make.assigned(make.taxi(settings={**PINNED, "strategy": "even"}), SCATTERED))
    answer = only(request)
    assert answer.decision is Decision.ASSIGN
    monkeypatch.setattr("bridge.round.small.search.Search.nearby", lambda *_: None)
    assert only(request).response_time_ms > answer.response_time_ms


def test_what_leaves_one_worker_leaves_together_as_far_as_restarts_allow(make):
    """Two workers of two hold one executor each against its pin: three may restart, so one worker goes."""
    settings_ = {"pin": {"dataSource": "host:us-east1-1", "filterByCoordinates": "host:us-east1-1"}}
    request = make.cluster(make.assigned(make.taxi(settings=settings_), GOOD))
    answer = only(request, move=MoveSettings(max_restarts_per_round=3, min_gain=1.0))
    assert (answer.price.executors_moved, answer.price.executors_restarted) == (1, 2)
    assert (
        "1 moved because a pin or avoidance was broken, 1 more waits as no more may restart" in answer.status
    )
    both = only(request, move=MoveSettings(max_restarts_per_round=4, min_gain=1.0))
    assert (both.price.executors_moved, both.price.executors_restarted) == (2, 4)


def test_what_would_join_a_larger_worker_than_may_restart_waits(make):
    """dataSource has to join the three executors of the full right; parser goes to the free spare."""
    pin = {"dataSource": "host:us-east1-1", "parser": "host:us-east1-2"}
    request = make.cluster(make.assigned(make.taxi(settings={"pin": pin}), [0, 1, 5, 5, 5, 2, 2, 2]))
    supervisors = tuple(
        replace(each, ports=(6700,), meta={"stormplace.executors": "4"}) for each in request.supervisors
    )
    request = replace(request, supervisors=supervisors)
    answer = only(request, move=MoveSettings(max_restarts_per_round=5, min_gain=1.0))
    assert (answer.price.executors_moved, answer.price.executors_restarted) == (2, 5)
    less = only(request, move=MoveSettings(max_restarts_per_round=4, min_gain=1.0))
    assert (less.price.executors_moved, less.price.executors_restarted) == (1, 4)
    assert "1 more waits as no more may restart" in less.status
