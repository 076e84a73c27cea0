"""Very many topologies of one executor each."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

from bridge.round.planner import plan_round
from bridge.settings import Settings
from bridge.wire.messages import Decision
from tests.bridge.round.whole_rounds import SIZES, answers, chain, hosts_and, settings_of

COUNT = 300


@pytest.mark.parametrize("size", SIZES)
def test_each_of_many_topologies_of_one_executor_gets_a_slot_of_its_own(make, size):
    topologies = [chain(make, f"t{number:03}", (1,)) for number in range(COUNT)]
    request = hosts_and(make, *topologies, hosts=15, ports=tuple(range(6700, 6720)))
    plans = answers(request, settings_of(size)).values()
    slots = {
        slot for plan in plans for slot in zip(plan.executor_supervisor, plan.executor_port, strict=True)
    }
    assert len(slots) == COUNT


@pytest.mark.parametrize("size", SIZES)
def test_where_slots_are_short_the_rest_is_refused_by_name(make, size):
    topologies = [chain(make, f"t{number:03}", (1,)) for number in range(60)]
    request = hosts_and(make, *topologies, hosts=5, ports=tuple(range(6700, 6710)))
    plans = answers(request, settings_of(size)).values()
    assert sum(plan.decision is Decision.ASSIGN for plan in plans) == 50
    refused = [plan.status for plan in plans if plan.decision is Decision.UNPLACEABLE]
    assert len(refused) == 10
    assert all("free worker slot" in status for status in refused)


def test_reading_a_request_takes_no_time_from_planning_it_but_counts_for_its_deadline(make):
    """A second has passed since the first byte; the way back of its answer has its time as well."""
    request = replace(make.cluster(make.taxi()), deadline_ms=1_900)
    plan = partial(plan_round, settings=Settings(), clock=lambda: 1.0, began_s=0.0)
    assert not plan(request).timed_out
    assert plan(replace(request, deadline_ms=1_200)).timed_out
    many = replace(request, deadline_ms=1_210, topologies=tuple(make.taxi(f"t{each}") for each in range(201)))
    assert plan(many).timed_out
