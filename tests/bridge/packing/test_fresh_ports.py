"""Workers that start anew do so on other ports; those that go on keep theirs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bridge.packing.fresh_ports import with_fresh_ports
from bridge.settings import MoveSettings
from bridge.wire.messages import UNASSIGNED, Decision, PlanResponse, TopologyPlan
from tests.bridge.round.planner_rounds import AT_ONCE, SCATTERED, only


def given(topology, supervisors, ports):
    return TopologyPlan(topology.id, Decision.ASSIGN, tuple(supervisors), tuple(ports), "", "greedy")


def fresh(request, *plans):
    """Ports of the plans."""
    found = with_fresh_ports(request, PlanResponse(1, "r", plans))
    return [plan.executor_port for plan in found.plans]


@pytest.fixture
def chain(make):
    """Four executors."""
    return make.chain("t", [2, 2], [(0, 1)])


def four_ports(request):
    ports = (6700, 6701, 6702, 6703)
    return replace(request, supervisors=tuple(replace(each, ports=ports) for each in request.supervisors))


def test_a_worker_with_other_executors_gets_the_next_free_port(make, chain):
    request = four_ports(make.cluster(make.assigned(chain, [0, 0, 1, 1], [6700, 6700, 6701, 6700])))
    plan = given(chain, [0, 0, 1, 2], [6700, 6700, 6700, 6700])
    assert fresh(request, plan) == [(6700, 6700, 6702, 6700)]


def test_a_new_worker_where_none_of_the_topology_was_stays(make, chain):
    request = four_ports(make.cluster(make.assigned(chain, [0, 0, 1, 1])))
    assert fresh(request, given(chain, [0, 0, 2, 2], [6700] * 4)) == [(6700,) * 4]


def test_after_a_rebalance_last_slots_and_those_of_others_count(make, chain):
    """The worker on supervisor 0 goes on; in that on 1 were other tasks."""
    hidden = replace(
        chain,
        last_supervisor=(0, 0, 1, UNASSIGNED),
        last_port=(6700, 6700, 6700, UNASSIGNED),
        left_supervisor=(1, 2),
        left_port=(6700, 6701),
    )
    request = four_ports(make.cluster(hidden))
    plan = given(hidden, [0, 0, 1, 2], [6700, 6700, 6700, 6701])
    assert fresh(request, plan) == [(6700, 6700, 6701, 6702)]
    same = replace(hidden, left_supervisor=(1,), left_port=(6703,))
    assert fresh(four_ports(make.cluster(same)), plan) == [(6700, 6700, 6700, 6701)]


def test_ports_of_others_are_not_taken(make, chain):
    """Neither where they run, nor where they are to run, nor where they ran last."""
    running = make.assigned(chain, [0, 0, 0, 1])
    other = make.assigned(make.chain("u", [1], []), [0], 6701)
    coming = make.chain("v", [1], [])
    back = replace(make.chain("w", [1], []), last_supervisor=(0,), last_port=(6703,))
    plans = given(running, [0, 0, 2, 2], [6700] * 4), given(coming, [0], [6702])
    request = four_ports(make.cluster(running, other, coming, back))
    assert fresh(request, *plans) == [(6700,) * 4, (6702,)], "no port is free: as it was"
    request = four_ports(make.cluster(running, other, coming))
    assert fresh(request, *plans) == [(6703, 6703, 6700, 6700), (6702,)]


def test_a_worker_that_starts_alone_keeps_its_port(make, chain):
    """Others find it there at once."""
    request = four_ports(make.cluster(make.assigned(chain, [0, 0, 1, UNASSIGNED], [6700] * 3 + [UNASSIGNED])))
    alone = given(chain, [0, 0, 1, 1], [6700] * 4)
    assert fresh(request, alone) == [(6700,) * 4]
    beside = given(chain, [0, 2, 1, 1], [6700] * 4)
    assert fresh(request, beside) == [(6701, 6700, 6701, 6701)]


def test_ports_go_round(make, chain):
    """The one before the last may still be about to end."""
    request = four_ports(make.cluster(make.assigned(chain, [0, 0, 0, 1], [6702] * 4)))
    assert fresh(request, given(chain, [0, 0, 1, 1], [6702] * 4)) == [(6703,) * 4]


def test_a_round_does_so_unless_the_operator_does_not_want_it(make):
    request = four_ports(make.cluster(make.assigned(make.taxi(), SCATTERED)))
    ran = set(zip(SCATTERED, (6700,) * 8, strict=True))
    found = only(request, move=AT_ONCE)
    assert ran.isdisjoint(zip(found.executor_supervisor, found.executor_port, strict=True))
    in_place = only(request, move=MoveSettings(cool_down_s=0, stabilisation_s=0, fresh_ports=False))
    assert in_place.executor_supervisor == found.executor_supervisor
    assert not ran.isdisjoint(zip(in_place.executor_supervisor, in_place.executor_port, strict=True))
    assert in_place.price == found.price
