"""Executors that lost their host take along those whose host has vanished from the readings, no others."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from bridge.round.memory import Memory
from bridge.round.planner import plan_round
from bridge.settings import MoveSettings, Settings
from bridge.wire.messages import Decision, Grouping
from tests.bridge.round.planner_rounds import hosts_of, only, stopped

LOST = -1
GONE = "europe-west1-1"
REASON = "moved because readings of their hosts have vanished"


def cut_off(make, *, linked=True, delay_ms=25.0, at=(0, 3, LOST), **settings):
    """c0 runs at uniroma2-1 (0), c1 at a host whose readings are gone (3), c2 ran at another one of its site.

    Nimbus still lists the host of c1; the others still publish their links to it if they had any.
    """
    keys = {f"topology.stormplace.{key}": value for key, value in settings.items()}
    topology = replace(make.chain("a", [1, 1, 1], [Grouping.SHUFFLE] * 2), settings_json=json.dumps(keys))
    ports = [LOST if supervisor == LOST else 6700 for supervisor in at]
    request = make.cluster(make.assigned(topology, at, ports))
    links = {GONE: {"delay_ms": delay_ms, "age_s": 40.0}} if linked else {}
    left = [each for each in request.supervisors if each.host != "europe-west1-2"]
    readings = [
        make.reading(each.host, each.meta["stormplace.site"], 10.0 * number, links=links)
        for number, each in enumerate(left)
        if each.host != GONE
    ]
    return replace(request, supervisors=tuple(left), readings=tuple(readings))


def with_one_each(request, alive=None):
    """Each host carries one executor; all are alive, or those that are named."""
    return replace(
        request,
        supervisors=tuple(
            replace(
                each,
                alive=alive is None or each.host in alive,
                meta={**each.meta, "stormplace.executors": "1"},
            )
            for each in request.supervisors
        ),
    )


def test_all_executors_of_a_site_that_goes_are_placed_in_one_round(make):
    """Nimbus has given up one of its hosts; what runs at the other one does not wait for the next round."""
    request = cut_off(make)
    answer = only(request)
    assert answer.decision is Decision.ASSIGN
    assert GONE not in hosts_of(request, answer)
    assert answer.price.executors_moved == 1
    assert f", 1 {REASON}: " in answer.status


def test_a_host_that_never_had_an_agent_is_not_left(make):
    """No reading has a link to it: that its reading is not there is nothing new."""
    request = cut_off(make, linked=False)
    answer = only(request)
    assert answer.decision is Decision.ASSIGN
    assert hosts_of(request, answer)[1] == GONE
    assert REASON not in answer.status


def test_nothing_leaves_a_vanished_host_on_its_own(make):
    """An agent may be restarted: as long as nothing of the topology is lost its executors stay."""
    answer = only(cut_off(make, at=(0, 3, 0)), move=MoveSettings())
    assert answer.decision is Decision.KEEP


def test_a_round_that_was_recorded_before_hosts_could_vanish_is_planned_as_it_was(make):
    """Its memory does not say whether delays were measured: c1 stays, and c2 alone is placed."""
    request = cut_off(make)
    done = plan_round(request, Settings(), stopped, memory=Memory(measured=None))
    (answer,) = done.response.plans
    assert answer.decision is Decision.ASSIGN
    assert hosts_of(request, answer)[1] == GONE


def test_no_executor_comes_to_a_vanished_host_for_a_gain(make):
    """By the links to it, it is next door to c0; c1 comes nearer, to a host that is read."""
    topology = make.assigned(make.chain("a", [1, 1], [Grouping.SHUFFLE]), [0, 4])
    request = with_one_each(replace(cut_off(make, delay_ms=0.1), topologies=(topology,)))
    answer = only(request)
    assert answer.decision is Decision.ASSIGN
    assert GONE not in hosts_of(request, answer)


@pytest.mark.parametrize("change", ["not live", "no moves", "frozen"])
def test_what_may_not_move_stays(make, change):
    """Readings that are not live show nothing; limits and the operator's word hold here, too."""
    request = cut_off(make, **({"frozen": True} if change == "frozen" else {}))
    if change == "not live":
        request = replace(request, readings_live=False)
    move = MoveSettings(max_restarts_per_round=0) if change == "no moves" else MoveSettings()
    answer = only(request, move=move)
    assert answer.decision is Decision.ASSIGN
    assert hosts_of(request, answer)[1] == GONE
    assert answer.price.executors_moved == 0


def test_what_is_new_of_a_frozen_topology_comes_to_no_vanished_host(make):
    """By the links to it GONE is next door; c2 comes to a host that is read."""
    request = cut_off(make, delay_ms=0.1, frozen=True)
    assert hosts_of(request, only(request))[2] != GONE


def test_without_room_elsewhere_the_lost_ones_come_first(make):
    """Each of two hosts left carries one executor: c2 gets its place, c1 stays where it is."""
    request = with_one_each(cut_off(make), alive={"uniroma2-1", "uniroma2-2", GONE})
    answer = only(request)
    assert hosts_of(request, answer) == ["uniroma2-1", GONE, "uniroma2-2"]


def test_without_room_for_all_the_lost_ones_come_to_no_vanished_host(make):
    """uniroma2-2 has one place left, GONE another one beside c1, to which c2 listens."""
    request = with_one_each(cut_off(make), alive={"uniroma2-1", "uniroma2-2", GONE})
    two = {"stormplace.executors": "2"}
    roomy = [
        replace(each, meta={**each.meta, **(two if each.host == GONE else {})})
        for each in request.supervisors
    ]
    request = replace(request, supervisors=tuple(roomy))
    assert hosts_of(request, only(request, move=MoveSettings())) == ["uniroma2-1", GONE, "uniroma2-2"]


def test_a_broken_avoidance_is_named_as_such(make):
    """c1 has to leave GONE whether its reading is there or not."""
    request = cut_off(make, at=(0, 3, 0), avoid={"c1": f"host:{GONE}"})
    status = only(request, move=MoveSettings()).status
    assert "1 moved because a pin or avoidance was broken" in status
    assert REASON not in status


@pytest.mark.parametrize(("linked", "proved"), [(False, True), (True, False)])
def test_nothing_is_proved_where_hosts_were_left_aside(make, linked, proved):
    """A topology that is new is placed by an exact strategy; GONE is usable all the same."""
    request = cut_off(make, linked=linked, at=(LOST, LOST, LOST), strategy="odp")
    answer = only(request)
    assert answer.decision is Decision.ASSIGN
    assert (answer.bound is not None) == proved


def test_no_executor_on_a_healthy_host_moves_to_make_room(make):
    """c1 could only come to the host of c0, and c0 could go elsewhere; nothing is lost that needs it."""
    elsewhere = ["host:uniroma2-2", "host:us-east1-1"]
    request = with_one_each(
        cut_off(make, pin={"c2": "host:us-east1-1"}, avoid={"c1": elsewhere}),
        alive={"uniroma2-1", "uniroma2-2", "us-east1-1", GONE},
    )
    answer = only(request, move=MoveSettings())
    assert hosts_of(request, answer) == ["uniroma2-1", GONE, "us-east1-1"]


def test_what_has_no_other_place_stays_while_others_leave(make):
    """c1 is pinned to the vanished host, c0 runs there as well and leaves."""
    request = cut_off(make, at=(3, 3, LOST), pin={"c1": f"host:{GONE}"})
    answer = only(request)
    first, pinned, lost = hosts_of(request, answer)
    assert pinned == GONE
    assert GONE not in {first, lost}
