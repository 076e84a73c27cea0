"""A rebalance hides what runs for one round: nothing moves that need not move."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bridge.network_settings import NetworkSettings
from bridge.round.last_slots import with_last_slots
from bridge.settings import MoveSettings, PlanSettings
from bridge.wire.messages import UNASSIGNED, Decision
from tests.bridge.round.planner_rounds import GOOD, SCATTERED, hosts_of, only, plan

PORTS = (6700,) * 8


def _hidden(make, slots, **changes):
    """The taxi query without any slot, and where it ran."""
    topology = replace(make.taxi(**changes), last_supervisor=tuple(slots), last_port=PORTS)
    return make.cluster(topology)


@pytest.mark.parametrize("slots", [GOOD, SCATTERED])
@pytest.mark.parametrize(
    "settings_",
    [
        {},
        {"frozen": True},
        {"seed": 3},
        {"strategy": "tabu-search"},
        {"weights": {"response_time": 0.5, "availability": 0.5}},
        {"rates": {"dataSource": 20.0}},
        {"time.limit.ms": 500},
        {"avoid": "host:none-of-these"},
    ],
    ids=str,
)
def test_a_rebalance_of_any_setting_moves_nothing(make, slots, settings_):
    answer = only(_hidden(make, slots, settings=settings_), move=MoveSettings())
    assert answer.decision is Decision.ASSIGN
    assert (list(answer.executor_supervisor), answer.executor_port) == (slots, PORTS)
    assert (answer.price.executors_moved, answer.price.executors_restarted) == (0, 0)
    assert answer.status.startswith("back in its last slots; kept: ")


def test_a_large_topology_comes_back_too(make):
    answer = only(_hidden(make, GOOD), network=NetworkSettings(max_hosts=1))
    assert list(answer.executor_supervisor) == GOOD
    assert answer.status == "back in its last slots; kept: runs completely"


def test_slots_that_are_taken_or_gone_are_not_used(make):
    """Host 0 is blacklisted, the port on host 1 belongs to another topology, host 2 does not offer it."""
    request = _hidden(make, GOOD)
    other = make.assigned(make.chain("a", [1], []), [1])
    supervisors = list(request.supervisors)
    supervisors[0] = replace(supervisors[0], blacklisted=True)
    supervisors[2] = replace(supervisors[2], ports=(6701,))
    request = replace(request, topologies=(other, *request.topologies), supervisors=tuple(supervisors))
    restored = with_last_slots(request).topologies[1]
    assert restored.executor_supervisor == (*(UNASSIGNED,) * 6, 3, 3)


def test_of_two_topologies_with_one_last_slot_the_first_by_name_gets_it(make):
    request = _hidden(make, GOOD)
    later = replace(request.topologies[0], id="a")
    restored = with_last_slots(replace(request, topologies=(*request.topologies, later)))
    assert [topology.executor_supervisor[0] for topology in restored.topologies] == [UNASSIGNED, 0]


def test_what_runs_is_not_touched(make):
    running = make.assigned(make.taxi(), SCATTERED)
    request = make.cluster(replace(running, last_supervisor=tuple(GOOD), last_port=PORTS))
    assert with_last_slots(request).topologies[0].executor_supervisor == tuple(SCATTERED)


def test_a_new_pin_is_met_and_the_others_stay(make):
    """What the rebalance asks for is done, and only that."""
    pin = {"dataSource": "host:europe-west1-2"}
    answer = only(_hidden(make, GOOD, settings={"pin": pin}), move=MoveSettings())
    assert answer.executor_supervisor[0] == 4
    assert list(answer.executor_supervisor[1:]) == GOOD[1:]


def test_what_does_not_fit_around_the_last_slots_is_placed_anew(make):
    """Three executors have to be at a host of two, where one of another component ran: it moves."""
    pins = {"dataSource": "host:uniroma2-1", "parser": "host:uniroma2-1"}
    request = _hidden(make, [3, 3, 0, 0, 1, 1, 2, 2], settings={"pin": pins})
    answer = plan(request).response.plans[0]
    assert answer.decision is Decision.ASSIGN
    assert hosts_of(request, answer)[:2] == ["uniroma2-1"] * 2


def test_a_topology_that_is_placed_anew_has_its_price_against_the_last_slots(make):
    """No room is made for globalRank, whose host is gone, at its pin: that would restart too many."""
    last = (0, 0, 1, 1, 2, 2, 3, 4)
    request = _hidden(make, last, settings={"pin": {"globalRank": "host:uniroma2-1"}})
    gone = [replace(each, blacklisted=index == 4) for index, each in enumerate(request.supervisors)]
    done = plan(replace(request, supervisors=tuple(gone)), move=MoveSettings(max_restarts_per_round=0))
    (answer,) = done.response.plans
    assert hosts_of(request, answer)[7] == "uniroma2-1"
    moved = sum(old != new for old, new in zip(last[:7], answer.executor_supervisor[:7], strict=True))
    assert (done.moves, answer.price.executors_moved) == (moved, moved)
    assert done.restarts == answer.price.executors_restarted >= moved > 0


@pytest.mark.parametrize("max_pairs", [1, 20_000])
def test_a_topology_that_cannot_be_placed_costs_the_others_nothing(make, max_pairs):
    """It lost an executor, and its pin is to a host that is not there: its last slots are known too."""
    lost = make.assigned(make.chain("lost", [2], []), [3, UNASSIGNED], [6701, UNASSIGNED])
    lost = replace(
        lost,
        settings_json='{"topology.stormplace.pin": {"c0": "host:nowhere"}}',
        last_supervisor=(3, -1),
        last_port=(6701, -1),
    )
    back = _hidden(make, SCATTERED)
    request = replace(back, topologies=(*back.topologies, lost))
    settings = PlanSettings(max_pairs=max_pairs)
    plans = plan(request, move=MoveSettings(), plan=settings).response.plans
    assert plans[0].status.startswith("back in its last slots; ")
    assert plans[0].executor_supervisor == tuple(SCATTERED)
    assert plans[1].decision is Decision.UNPLACEABLE


def test_without_known_slots_the_request_stays_the_same(make):
    request = make.cluster(make.taxi())
    assert with_last_slots(request) is request
