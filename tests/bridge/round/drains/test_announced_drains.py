"""Hosts that are to be emptied later: nothing leaves before, and what can goes elsewhere."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bridge.round.round_report import HOLD_MS
from bridge.settings import MoveSettings, PlanSettings
from bridge.wire.messages import UNASSIGNED, Decision, Drain
from formats.drain import content_of
from tests.bridge.round.drains.test_draining import four, taken, workers
from tests.bridge.round.planner_rounds import AT_ONCE, SCATTERED, hosts_of, only, plan

SMALL_OR_LARGE = pytest.mark.parametrize("sections", [{}, {"plan": PlanSettings(max_pairs=1)}])
HOUR_S = 3600.0
NOTE = "{} on hosts that are to be drained; "


def announced(request, *places, begins_s=600.0, age_s=0.0):
    content = content_of(None, begins_s)
    return replace(request, drains=tuple(Drain(place, content, round(age_s * 1000)) for place in places))


@SMALL_OR_LARGE
def test_until_it_begins_nothing_leaves(make, sections):
    """The status says who runs there; then it is a drain."""
    request = four(make, workers(make, "t", [2], [0]))
    answer = only(announced(request, "host:a"), **sections)
    assert answer.decision is Decision.KEEP
    assert answer.status.startswith(NOTE.format("2 executors run") + "kept: ")
    begun = announced(request, "host:a", age_s=600.0)
    answer = only(begun, **sections)
    assert "; 2 executors leave drained hosts; placed by" in answer.status
    assert "a" not in hosts_of(begun, answer)


@SMALL_OR_LARGE
def test_what_is_new_or_lost_goes_elsewhere_if_others_have_room(make, sections):
    """Also what is lost of a topology that runs there."""
    new = make.chain("t", [4], [])
    lost = make.assigned(make.chain("u", [4], []), [0, 0, UNASSIGNED, UNASSIGNED], 6700)
    request = announced(four(make, new, lost), "host:a", "host:b")
    plans = {each.topology_id: each for each in plan(request, **sections).response.plans}
    assert set(hosts_of(request, plans["t"])) <= {"c", "d"}
    assert hosts_of(request, plans["u"])[:2] == ["a", "a"]
    assert set(hosts_of(request, plans["u"])[2:]) <= {"c", "d"}
    assert plans["u"].status.startswith(NOTE.format("2 executors run"))
    assert "to be drained" not in plans["t"].status


@SMALL_OR_LARGE
def test_where_others_have_no_room_it_is_used(make, sections):
    """A topology that stands still would be worse."""
    request = announced(four(make, make.chain("t", [2], []), taken(make, "u")), "host:a")
    answer = next(each for each in plan(request, **sections).response.plans if each.topology_id == "t")
    assert (answer.decision, hosts_of(request, answer)) == (Decision.ASSIGN, ["a", "a"])
    assert answer.status.startswith(NOTE.format("2 executors run"))


def test_the_status_says_why_a_host_that_leaves_is_used(make):
    request = announced(four(make, make.chain("t", [2], []), taken(make, "u")), "host:a")
    answer = next(each for each in plan(request).response.plans if each.topology_id == "t")
    assert ", some on hosts that are to be drained or unfavored as no others have room" in answer.status


def test_nothing_comes_there_for_a_gain(make):
    """Without the announcement it does; a drain that begins after the horizon counts for nothing yet."""
    request = make.cluster(make.assigned(make.taxi(), SCATTERED, 6701))

    def hosts(begins_s, **move):
        far = announced(request, "host:uniroma2-3", begins_s=begins_s)
        return hosts_of(request, only(far, move=AT_ONCE.model_copy(update=move)))

    moved = hosts_of(request, only(request))
    assert "uniroma2-3" in moved
    elsewhere = hosts(600.0)
    assert elsewhere
    assert "uniroma2-3" not in elsewhere
    assert hosts(2 * HOUR_S) == moved
    assert hosts(2 * HOUR_S, horizon_s=3 * HOUR_S) == elsewhere


def test_what_is_pinned_to_it_is_placed_there(make):
    pinned = replace(make.chain("t", [2], []), settings_json='{"topology.stormplace.pin": {"c0": "host:a"}}')
    request = announced(four(make, pinned), "host:a")
    assert hosts_of(request, only(request)) == ["a", "a"]


def test_what_leaves_a_drained_host_avoids_those_that_follow(make):
    """Maintenance goes from host to host."""
    request = announced(four(make, workers(make, "t", [2], [0])), "host:b", "host:c")
    request = replace(request, drains=(Drain("host:a", content_of(None), 0), *request.drains))
    assert set(hosts_of(request, only(request, move=MoveSettings(min_gain=1.0)))) == {"d"}


@pytest.mark.parametrize(
    ("begins_s", "hold_ms"),
    [(10.0, 10_000), (HOUR_S + 5.0, 5_000), (1800.0, HOLD_MS), (10 * HOUR_S, HOLD_MS), (0.0001, 1)],
)
def test_a_plan_is_held_no_longer_than_until_the_next_one_counts(make, begins_s, hold_ms):
    """From the horizon before it begins, and from its beginning on."""
    request = announced(four(make, workers(make, "t", [2], [0])), "host:a", begins_s=begins_s)
    assert plan(request, move=MoveSettings(min_gain=1.0)).response.hold_ms == hold_ms
