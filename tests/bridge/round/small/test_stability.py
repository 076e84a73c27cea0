"""A gain must be seen for a while and a topology have cooled down before it moves; nothing else waits."""

from __future__ import annotations

import json
from dataclasses import replace

from bridge.round.planner import plan_round
from bridge.wire.messages import UNASSIGNED, Decision, Grouping
from tests.bridge.round.planner_rounds import PINNED, SCATTERED
from tests.bridge.round.small.stability_rounds import Rounds, at_one_point, scattered


def test_a_gain_is_carried_out_once_it_was_seen_for_its_time(make):
    """The status line stays as it is; the only move comes with the first round after that time."""
    rounds_ = Rounds(make.cluster(scattered(make)))
    in_turn = [rounds_.at(second) for second in (0, 12.5, 29, 30, 40, 200, 300, 400)]
    assert [answer.decision for answer in in_turn] == [Decision.KEEP] * 3 + [Decision.ASSIGN] + [
        Decision.KEEP
    ] * 4
    gain = f"{in_turn[3].price.gain * 100:.0f} %"
    (waiting,) = {answer.status for answer in in_turn[:3]}
    assert waiting.startswith("kept: a gain waits until it has been seen for 30 s (ils (auto)); ")
    assert f"; by ils (auto) for a gain of {gain}: " in in_turn[3].status


def test_one_round_is_never_enough(make):
    """Even if the gain need be seen for no more than an instant."""
    rounds_ = Rounds(make.cluster(scattered(make)), stabilisation_s=1e-9)
    assert rounds_.at(0).decision is Decision.KEEP
    assert rounds_.at(10).decision is Decision.ASSIGN


def test_a_break_starts_from_zero(make):
    """The gain is gone for one round."""
    request = make.cluster(scattered(make))
    rounds_ = Rounds(request)
    rounds_.at(0)
    rounds_.at(10)
    rounds_.request = at_one_point(make, request)
    assert "no candidate gains 10 ms" in rounds_.at(20).status
    rounds_.request = request
    assert rounds_.seen_s(30) == 0
    assert rounds_.seen_s(50) == 20
    assert rounds_.at(60).decision is Decision.ASSIGN


def test_a_placement_that_cannot_be_had_any_more_hands_its_time_on(make):
    """A host of the first candidate is blacklisted: no gain is refuted, the second one takes over."""
    request = make.cluster(scattered(make))
    rounds_ = Rounds(request)
    rounds_.at(0)
    watched = rounds_.memory.topologies[0].watched.hosts
    gone = next(
        index
        for index, each in enumerate(request.supervisors)
        if each.host in watched and each.host.startswith("europe")
    )
    listed = list(request.supervisors)
    listed[gone] = replace(listed[gone], blacklisted=True)
    rounds_.request = replace(request, supervisors=tuple(listed))
    assert rounds_.seen_s(20) == 20
    assert request.supervisors[gone].host not in rounds_.memory.topologies[0].watched.hosts
    answer = rounds_.at(30)
    assert answer.decision is Decision.ASSIGN
    assert gone not in answer.executor_supervisor


def pair_of_hosts(make):
    """c0 is pinned to uniroma2-1, c1 runs at europe-west1-2, 60 ms away, and may not come to uniroma2."""
    keys = {
        "topology.stormplace.pin": {"c0": "host:uniroma2-1"},
        "topology.stormplace.avoid": {"c1": "site:uniroma2"},
    }
    pair = replace(make.chain("a", [1, 1], [Grouping.SHUFFLE]), settings_json=json.dumps(keys))
    return make.cluster(make.assigned(pair, [0, 4]))


def with_distances(make, request, distances):
    """The request with hosts so far from uniroma2-1, all others far away."""
    x = {"uniroma2-1": 0.0, "europe-west1-2": 60.0, **distances}
    readings = tuple(make.reading(each.host, None, x.get(each.host, 200.0)) for each in request.supervisors)
    return replace(request, readings=readings)


def test_gains_of_ever_other_placements_are_none_that_lasts(make):
    """In every round one host is nearer than the running one, but two hosts take turns."""
    request = pair_of_hosts(make)
    rounds_ = Rounds(request)
    for number in range(6):
        near = ("europe-west1-1", "us-east1-1")[number % 2]
        rounds_.request = with_distances(make, request, {near: 20.0})
        assert rounds_.seen_s(20 * number) == 0


def test_the_placement_that_was_watched_is_the_one_that_is_carried_out(make):
    """Another host is a little nearer of late: not by enough to leave the watched one for it."""
    request = pair_of_hosts(make)
    rounds_ = Rounds(with_distances(make, request, {"europe-west1-1": 20.0}))
    rounds_.at(0)
    rounds_.request = with_distances(make, request, {"europe-west1-1": 20.0, "us-east1-1": 18.0})
    assert rounds_.seen_s(20) == 20
    assert rounds_.at(30).executor_supervisor == (0, 3)


def test_a_placed_topology_cools_down(make):
    """It was placed where all hosts were near each other; that they are not counts two minutes later."""
    start = make.cluster(make.taxi(settings=PINNED))
    rounds_ = Rounds(at_one_point(make, start))
    assert rounds_.at(0).decision is Decision.ASSIGN
    rounds_.request = replace(rounds_.request, readings=start.readings, topologies=(scattered(make),))
    # The slots are not those of the plan: nothing to cool down from, but a gain to be watched.
    assert rounds_.seen_s(10) == 0
    assert rounds_.at(40).decision is Decision.ASSIGN
    placed = rounds_.request
    rounds_.request = replace(
        placed,
        readings=tuple(
            make.reading(each.name, None, 40.0 * index) for index, each in enumerate(start.readings)
        ),
    )
    assert rounds_.cooling_s(80) == 80
    assert rounds_.cooling_s(159.5) == 0.5
    assert rounds_.at(160).decision is Decision.ASSIGN


def test_a_gain_that_appears_while_cooling_down_must_be_seen_for_its_time_too(make):
    """Ten seconds before the end of the cool-down."""
    start = make.cluster(make.taxi(settings=PINNED))
    rounds_ = Rounds(start)
    rounds_.at(0)
    assert rounds_.at(100).status.startswith("kept: no ")
    rounds_.request = replace(
        rounds_.request,
        readings=tuple(
            make.reading(each.name, None, 40.0 * (index % 4)) for index, each in enumerate(start.readings)
        ),
    )
    assert rounds_.cooling_s(110) == 10
    assert rounds_.seen_s(125) == 15
    assert rounds_.at(140).decision is Decision.ASSIGN


def test_missing_executors_and_broken_pins_never_wait(make):
    """Right after a placement one executor is lost and another one's pin is changed: both are served."""
    rounds_ = Rounds(make.cluster(make.taxi(settings=PINNED)))
    rounds_.at(0)
    (topology,) = rounds_.request.topologies
    lost = replace(
        topology,
        executor_supervisor=(*topology.executor_supervisor[:-1], UNASSIGNED),
        executor_port=(*topology.executor_port[:-1], UNASSIGNED),
    )
    rounds_.request = replace(rounds_.request, topologies=(lost,))
    answer = rounds_.at(10)
    assert answer.decision is Decision.ASSIGN
    assert answer.executor_supervisor[:-1] == topology.executor_supervisor[:-1]
    pins = {"topology.stormplace.pin": {"dataSource": "site:us-east1"}}
    (topology,) = rounds_.request.topologies
    rounds_.request = replace(
        rounds_.request, topologies=(replace(topology, settings_json=json.dumps(pins)),)
    )
    answer = rounds_.at(20)
    assert answer.decision is Decision.ASSIGN
    assert answer.price.executors_moved == 1


def test_what_runs_does_not_move_for_a_gain_in_the_round_that_places_the_rest(make):
    """Seven stand badly, one is missing: it alone gets a slot, and then the topology cools down."""
    lost = make.assigned(make.taxi(settings=PINNED), [*SCATTERED[:7], UNASSIGNED], [6700] * 7 + [UNASSIGNED])
    rounds_ = Rounds(make.cluster(lost))
    answer = rounds_.at(0)
    assert list(answer.executor_supervisor[:7]) == SCATTERED[:7]
    assert answer.price.executors_moved == 0
    assert rounds_.cooling_s(10) == 110


def test_a_plan_that_was_not_carried_out_is_made_again(make):
    """The answer came too late: the next round moves at once, and cools nothing down."""
    rounds_ = Rounds(make.cluster(scattered(make)))
    for second in (0, 30):
        rounds_.at(second, carry_out=False)
    again = rounds_.at(40, carry_out=False)
    assert "a gain waits until it has been seen for 30 s" in again.status
    assert rounds_.at(70).decision is Decision.ASSIGN


def test_a_gain_goes_on_being_watched_while_others_use_the_moves_of_the_round(make):
    """Both have waited; the second goes a round later."""
    request = make.cluster(scattered(make, "a"), make.assigned(make.taxi("b", PINNED), SCATTERED, 6701))
    roomy = tuple(
        replace(each, meta={**each.meta, "stormplace.executors": "8"}) for each in request.supervisors
    )
    rounds_ = Rounds(replace(request, supervisors=roomy), max_restarts_per_round=8)
    answers = {}
    for second in (0, 30, 40):
        done = plan_round(rounds_.request, rounds_.settings, lambda: 0.0, memory=rounds_.memory, now_s=second)
        rounds_.memory, rounds_.request = done.memory, rounds_.make_carried_out(done.response)
        answers[second] = done.response.plans
    assert [answer.decision for answer in answers[0]] == [Decision.KEEP] * 2
    assert [answer.decision for answer in answers[30]] == [Decision.ASSIGN, Decision.KEEP]
    assert answers[30][1].status.startswith(
        "kept: best candidate gains enough but restarts more executors than may still restart in this round, "
        "8 in all ("
    )
    assert [answer.decision for answer in answers[40]] == [Decision.KEEP, Decision.ASSIGN]
