"""A look at what a plan would do, which changes nothing."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from bridge.network_settings import NetworkSettings
from bridge.round.memory import NOTHING, Start
from bridge.round.preview import Change, PreviewError, preview
from bridge.settings import MoveSettings, PlanSettings, Settings
from scheduler.contract.children import INLINE
from tests.bridge.round.planner_rounds import AT_ONCE, PINNED, SCATTERED, plan, stopped
from tests.bridge.round.price.priced_rounds import moving, rates

NO_CHANGE = Change({}, ())
AT_HOME = [0, 0, 1, 1, 3, 2, 3, 2]  # source and sink where they are pinned to


def look(request, name="taxi-1", change=NO_CHANGE, **sections):
    return preview(
        request, name, change, Settings(**sections), stopped, memory=NOTHING, now_s=0.0, children=INLINE
    )


def taxi(make, placement, **changes):
    return make.cluster(replace(make.assigned(make.taxi(settings=PINNED), placement, 6701), **changes))


def test_what_the_next_round_would_do_is_what_it_does(make):
    """Decision, status, slots and price."""
    request = taxi(make, SCATTERED)
    answer = look(request, move=AT_ONCE)
    done = plan(request).response.plans[0]
    following = answer["next_round"]
    assert (following["decision"], following["status"]) == ("assign", done.status)
    assert following["price"]["executors_moved"] == done.price.executors_moved
    assert len(following["moves"]) == done.price.executors_restarted, "those that restart get other ports"
    slots = {move["component"]: (move["to"]["host"], move["to"]["port"]) for move in following["moves"]}
    topology = request.topologies[0]
    assert slots == {
        topology.component_names[component]: (request.supervisors[new[0]].host, new[1])
        for component, old, new in zip(
            topology.executor_component,
            zip(topology.executor_supervisor, topology.executor_port, strict=True),
            zip(done.executor_supervisor, done.executor_port, strict=True),
            strict=True,
        )
        if old != new
    }


def test_a_gain_that_waits_is_shown_with_its_price_and_what_staying_is_worth(make):
    """The next round only begins to watch it."""
    answer = look(taxi(make, SCATTERED))
    assert (answer["next_round"]["decision"], answer["next_round"]["moves"]) == ("keep", [])
    assert "a gain waits" in answer["next_round"]["status"]
    assert answer["candidate"]["moves"]
    time = answer["metrics"]["response_time_ms"]
    assert time["candidate"] < time["staying"]
    assert answer["candidate"]["price"]["gain"] == pytest.approx(1 - time["candidate"] / time["staying"])
    assert answer["thresholds"] == {"min_gain": 0.2, "min_gain_ms": 10.0, "max_restarts_per_round": 32}


@pytest.mark.parametrize("move", [AT_ONCE, MoveSettings()])
def test_the_price_rests_on_what_was_measured(make, move):
    """Also that of a candidate which the next round would not carry out."""
    memory = replace(NOTHING, starts=tuple(Start(s, None, True, s) for s in (10.0, 12.0, 14.0)))
    request = taxi(make, SCATTERED)
    answer = preview(
        request,
        "taxi-1",
        NO_CHANGE,
        Settings(move=move),
        stopped,
        memory=memory,
        now_s=0.0,
        children=INLINE,
    )
    price = answer["candidate"]["price"]
    assert (price["pause_source"], price["pause_samples"]) == ("first starts", 3)
    assert 12.0 <= price["pause_s"] <= 14.0
    assert price["objective"] is price["move_cost"] is price["payback_s"] is None


def test_the_objective_of_staying_stands_beside_the_candidates(make):
    """Where more than the response time is weighed."""
    weights = {"topology.stormplace.weights": {"response_time": 0.5, "availability": 0.5}}
    answer = look(taxi(make, SCATTERED), change=Change(weights, ()), move=AT_ONCE)
    objective = answer["candidate"]["price"]["objective"]
    assert 0 <= objective["candidate"] < objective["staying"] <= 1


def test_where_nothing_is_better_nothing_would_move(make):
    """And staying has its worth."""
    request = make.carried_out(taxi(make, SCATTERED), plan(taxi(make, SCATTERED)).response)
    answer = look(request)
    assert answer["candidate"]["moves"] == answer["next_round"]["moves"] == []
    time = answer["metrics"]["response_time_ms"]
    assert time["staying"] == time["candidate"] > 0


def test_other_topologies_are_no_part_of_a_candidate(make):
    """They stand still for it, though they have gains of their own."""
    first, other = (
        make.assigned(make.taxi(name), SCATTERED, port) for name, port in (("a", 6700), ("b", 6701))
    )
    answer = look(make.cluster(first, other), "a")
    alone = look(
        make.cluster(first, replace(other, settings_json='{"topology.stormplace.frozen": true}')), "a"
    )
    assert answer["candidate"] == alone["candidate"]


def test_settings_and_drains_are_taken_for_changed(make):
    """A pin, and a drained site; the request itself stays as it is."""
    request = taxi(make, AT_HOME)
    before = json.dumps([each.settings_json for each in request.topologies])
    pinned = look(request, change=Change({"topology.stormplace.pin": {"parser": "site:us-east1"}}, ()))
    assert next(move for move in pinned["next_round"]["moves"] if move["component"] == "parser")["to"][
        "host"
    ].startswith("us-east1")
    drained = look(request, change=Change({}, ("site:europe-west1",)))
    moves = drained["next_round"]["moves"]
    assert "europe-west1-1" in {move["from"]["host"] for move in moves}
    assert not any(move["to"]["host"].startswith("europe-west1") for move in moves)
    assert "; 2 executors leave drained hosts; " in drained["next_round"]["status"]
    assert json.dumps([each.settings_json for each in request.topologies]) == before
    assert request.drains == ()


@pytest.mark.parametrize(
    ("name", "change", "reason"),
    [
        ("other", NO_CHANGE, "the cluster has no topology other; it has taxi-1"),
        (
            "taxi-1",
            Change({"topology.workers": 3}, ()),
            "what-if: topology.workers is no key below topology.stormplace.",
        ),
        (
            "taxi-1",
            Change({"topology.stormplace.pinn": 3}, ()),
            "what-if: topology.stormplace.pinn: unknown key",
        ),
        (
            "taxi-1",
            Change({"topology.stormplace.weights": {"cost": "x"}}, ()),
            "what-if: topology.stormplace.weights: weight cost must be a number, got 'x'",
        ),
        ("taxi-1", Change({}, ("rack:a",)), "drain 'rack:a' is neither host:NAME nor site:NAME"),
        ("taxi-1", Change({}, ("host:rome-1",)), "drain host:rome-1: the cluster has no such host"),
        (
            "taxi-1",
            Change({}, ("site:rome",)),
            "drain site:rome: no host is known to be there; sites: europe-west1, uniroma2, us-east1",
        ),
    ],
)
def test_what_cannot_be_looked_at_is_named(make, name, change, reason):
    """One sentence."""
    with pytest.raises(PreviewError) as caught:
        look(taxi(make, AT_HOME), name, change)
    assert str(caught.value) == reason


def test_a_name_that_two_topologies_have_needs_the_id(make):
    """A topology that is killed keeps its name for a while."""
    topologies = (replace(make.taxi(f"t-{number}"), name="t") for number in (1, 2))
    request = make.cluster(*topologies)
    with pytest.raises(PreviewError, match="several topologies have the name t"):
        look(request, "t")
    assert look(request, "t-2")["topology"] == "t-2"


def test_a_bad_setting_of_the_topology_itself_is_named_in_the_status(make):
    """As in a round; only what is asked for now is refused."""
    (topology,) = taxi(make, AT_HOME).topologies
    bad = replace(topology, settings_json='{"topology.stormplace.strategy": "none"}')
    answer = look(make.cluster(bad), change=Change({"topology.stormplace.seed": 7}, ()))
    assert "setting ignored: topology.stormplace.strategy: " in answer["next_round"]["status"]


def test_declared_rates_are_refused_where_they_would_not_count():
    """Measured ones count before them, and the answer would be the same as without."""
    change = Change({"topology.stormplace.rates": {"spout": 500.0}}, ())
    assert look(moving(), "t", change)["topology"] == "t"
    measured = replace(moving(), readings=(*moving().readings, rates()))
    with pytest.raises(PreviewError) as caught:
        look(measured, "t", change)
    assert str(caught.value) == "what-if: topology.stormplace.rates: does not count, as rates are measured"


def test_a_topology_that_is_not_placed_has_no_worth_of_staying(make):
    """Nor has one that is too large to be moved for a gain."""
    answer = look(make.cluster(make.taxi()))
    time = answer["metrics"]["response_time_ms"]
    assert time["staying"] is None
    assert time["candidate"] > 0
    assert all(move["from"] is None for move in answer["next_round"]["moves"])
    assert look(make.cluster(make.taxi()), plan=PlanSettings(max_executors=7))["metrics"] == {}


def test_in_clusters_with_more_hosts_than_delays_are_worked_out_for_there_is_no_worth(make):
    """The rest is as ever."""
    answer = look(taxi(make, AT_HOME), network=NetworkSettings(max_hosts=3))
    assert (answer["metrics"], answer["next_round"]["decision"]) == ({}, "keep")


def test_metrics_of_which_nothing_is_known_are_left_out(make):
    """No supervisor states a cost."""
    request = taxi(make, AT_HOME)
    assert "cost" not in look(request)["metrics"]
    priced = replace(
        request,
        supervisors=tuple(
            replace(each, meta={**each.meta, "stormplace.cost": "2"}) for each in request.supervisors
        ),
    )
    assert look(priced)["metrics"]["cost"]["staying"] == 16.0
    assert "migration_cost" not in look(priced)["metrics"]
