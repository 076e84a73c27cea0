"""Very many topologies of one executor each."""

from __future__ import annotations

import pytest

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
