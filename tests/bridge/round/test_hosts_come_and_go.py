"""Hosts that come and go in each round: every plan is valid, and what runs on a healthy host stays there."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from bridge.round.memory import NOTHING
from bridge.wire.messages import UNASSIGNED, Decision
from tests.bridge.round.whole_rounds import SIZES, chain, hosts_and, planned, settings_of

ROUNDS = 12
PERIOD_S = 10.0


def slots_by_host(request, topology):
    """Host and port of each executor, None where it has no slot."""
    return [
        None if supervisor == UNASSIGNED else (request.supervisors[supervisor].host, port)
        for supervisor, port in zip(topology.executor_supervisor, topology.executor_port, strict=True)
    ]


def with_slots(request, slots):
    """The request with the executors of each topology in these slots, as far as their hosts are there."""
    index = {supervisor.host: number for number, supervisor in enumerate(request.supervisors)}
    topologies = []
    for topology in request.topologies:
        own = [slot if slot is not None and slot[0] in index else None for slot in slots[topology.id]]
        topologies.append(
            replace(
                topology,
                executor_supervisor=tuple(UNASSIGNED if slot is None else index[slot[0]] for slot in own),
                executor_port=tuple(UNASSIGNED if slot is None else slot[1] for slot in own),
            )
        )
    return replace(request, topologies=tuple(topologies))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("gone", ["listed no more", "dead", "blacklisted"])
def test_what_runs_on_healthy_hosts_stays_while_others_come_and_go(make, size, gone):
    """Two of eight hosts are away in each round, others each time; Nimbus takes their executors' slots.

    No host has room for a whole topology, so that most lose some of their executors.
    """
    draw = random.Random(7)
    chains = (chain(make, name, cpu=80.0) for name in "abc")
    whole = hosts_and(make, *chains, hosts=8)
    slots = {topology.id: [None] * topology.n_executors for topology in whole.topologies}
    memory = NOTHING
    torn = 0
    for number in range(ROUNDS):
        away = set(draw.sample([supervisor.host for supervisor in whole.supervisors], 2))
        here = {"listed no more": None, "dead": {"alive": False}, "blacklisted": {"blacklisted": True}}[gone]
        supervisors = tuple(
            each if each.host not in away or here is None else replace(each, **here)
            for each in whole.supervisors
            if here is not None or each.host not in away
        )
        before = {
            name: [None if slot is None or slot[0] in away else slot for slot in own]
            for name, own in slots.items()
        }
        torn += sum(None in own and any(own) for own in before.values())
        request = with_slots(replace(whole, supervisors=supervisors), before)
        done = planned(request, settings_of(size), memory, number * PERIOD_S)
        memory = done.memory
        following = make.carried_out(request, done.response)
        for topology, plan in zip(following.topologies, done.response.plans, strict=True):
            assert plan.decision is not Decision.UNPLACEABLE
            slots[topology.id] = slots_by_host(request, topology)
            stayed = zip(before[topology.id], slots[topology.id], strict=True)
            assert all(new == old for old, new in stayed if old is not None)
            assert None not in slots[topology.id]
            assert not {slot[0] for slot in slots[topology.id]} & away
    assert torn >= ROUNDS / 2


@pytest.mark.parametrize("size", SIZES)
def test_a_host_that_comes_back_draws_nothing_to_it(make, size):
    """Everything runs on two of three hosts; the third has come back, empty."""
    request = hosts_and(make, chain(make, "a"), chain(make, "b"), hosts=2)
    done = planned(request, settings_of(size))
    back = make.carried_out(request, done.response)
    third = hosts_and(make, hosts=3).supervisors
    again = planned(replace(back, supervisors=third), settings_of(size), done.memory, PERIOD_S)
    assert [plan.decision for plan in again.response.plans] == [Decision.KEEP] * 2
