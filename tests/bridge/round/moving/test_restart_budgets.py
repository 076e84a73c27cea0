"""No hour restarts more at a site, or of a worker, than it may; what is missing is placed all the same."""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import replace

import pytest

from bridge.network_settings import NetworkSettings
from bridge.problem.assignment import assignment_of, restarted_workers
from bridge.round.memory import NOTHING, Memory, Restarted, memory_from_json
from bridge.round.planner import plan_round
from bridge.round.restart_budgets import RestartBudgets, Worker
from bridge.settings import MoveSettings, PlanSettings, Settings
from bridge.wire.messages import UNASSIGNED, Decision, Drain, Grouping
from tests.bridge.round.moving.priced_rounds import market
from tests.bridge.round.planner_rounds import PINNED, SCATTERED, stopped
from tests.bridge.round.random_rounds import random_request

PER_SITE = "(move.max_restarts_per_site_per_hour)"
PER_WORKER = "(move.max_restarts_per_worker_per_hour)"
SIZES = {"executor by executor": 400, "by counts": 1}


def worker(*executors, topology="t", site="rome"):
    return Worker(topology, site, frozenset(executors))


@pytest.mark.parametrize(
    ("spent", "workers", "alone", "reason"),
    [
        ((), [worker(1, 2), worker(3)], False, ""),
        ((), [worker(1, 2), worker(3, 4)], False, "restarts more executors at rome than the 3 "),
        ((worker(1, 2),), [worker(3, 4)], False, "restarts more executors at rome than the 3 "),
        ((worker(1, 2),), [worker(3, 4, site="oslo")], False, ""),
        (
            (worker(1, 2, site=None),),
            [worker(3, 4, site=None)],
            False,
            "restarts more executors at hosts of ",
        ),
        ((), [worker(1, 2, 3, 4)], False, "restarts more executors at rome than the 3 "),
        ((), [worker(1, 2, 3, 4)], True, ""),
        ((worker(5),), [worker(1, 2, 3, 4)], True, "restarts more executors at rome than the 3 "),
        ((worker(1), worker(1)), [worker(1)], True, "restarts a worker more times than the 2 "),
        (
            (worker(1), worker(1, 2)),
            [worker(1, site="oslo")],
            True,
            "restarts a worker more times than the 2 ",
        ),
        ((worker(1), worker(1)), [worker(1, topology="other")], False, ""),
    ],
)
def test_budgets_are_by_site_and_by_executors(spent, workers, alone, reason):
    """A larger worker goes alone; a worker is known by its executors, wherever they run."""
    budgets = RestartBudgets(3, 2, tuple(spent))
    assert budgets.why_not(workers, alone=alone).startswith(reason)
    assert bool(budgets.why_not(workers, alone=alone)) is bool(reason)
    assert RestartBudgets().after(spent).why_not(workers) == ""
    assert budgets.after(workers).spent == (*spent, *workers)
    assert budgets.unspent.spent == ()


def drained(request, site):
    return replace(request, drains=(Drain(f"site:{site}", b'{"version": 1, "lifetime_s": null}', 0),))


def taxi(make, where, **settings):
    return make.cluster(make.assigned(make.taxi(settings=settings), where, 6701))


def planned(request, memory=NOTHING, now_s=0.0, size="executor by executor", **move):
    settings = Settings(
        move=MoveSettings(**{"cool_down_s": 0, "stabilisation_s": 0, **move}),
        network=NetworkSettings(max_hosts=SIZES[size]),
        plan=PlanSettings(time_limit_ms=600_000),
    )
    done = plan_round(request, settings, stopped, memory=memory, now_s=now_s)
    assert done.traces == ()
    return done


def restarted_workers_of(request, done):
    """The site, and the executors, of each worker that a round restarts."""
    site_of = {each.host: each.meta["stormplace.site"] for each in request.supervisors}
    plans, found = {plan.topology_id: plan for plan in done.response.plans}, []
    for topology in request.topologies:
        plan = plans[topology.id]
        if plan.decision is not Decision.ASSIGN:
            continue
        before = assignment_of(topology)
        after = tuple(zip(plan.executor_supervisor, plan.executor_port, strict=True))
        for executors in restarted_workers(before, after):
            site = site_of[request.supervisors[before[min(executors)][0]].host]
            found.append((site, {(topology.id, executor) for executor in executors}))
    return found


def restarted_at(request, done):
    """Executors that a round restarts by site."""
    found = Counter()
    for site, executors in restarted_workers_of(request, done):
        found[site] += len(executors)
    return found


def test_a_gain_that_restarts_more_of_a_site_than_an_hour_may_comes_later(make):
    """Part of it in this hour, if a part is no worse, and the rest in the next one."""
    request, memory, total = taxi(make, SCATTERED, **PINNED), NOTHING, Counter()
    for number in range(6):
        done = planned(request, memory, 10.0 * number, max_restarts_per_site_per_hour=2)
        total += restarted_at(request, done)
        request, memory = make.carried_out(request, done.response), done.memory
    assert total
    assert max(total.values()) <= 2
    (plan,) = done.response.plans
    assert plan.decision is Decision.KEEP
    assert f"than the 2 that may restart in an hour {PER_SITE}" in plan.status
    later = planned(request, memory, 3700.0, max_restarts_per_site_per_hour=2)
    assert later.moves > 0


def test_a_worker_does_not_go_to_and_fro(make):
    """Prices that change in each round restart it once in an hour, though it is another slot each time."""
    cost = {"weights": {"cost": 1.0}}
    request, memory, moved = market(make, cost), NOTHING, []
    for number, now_s in enumerate((0.0, 10.0, 20.0, 3590.0, 3595.0, 3600.0)):
        dear = ("dear", "cheap")[number % 2]
        price = {each.host: "9" if each.host == dear else "1" for each in request.supervisors}
        price["far"] = "20"
        supervisors = (
            replace(each, meta=each.meta | {"stormplace.cost": price[each.host]})
            for each in request.supervisors
        )
        request = replace(request, supervisors=tuple(supervisors))
        done = planned(request, memory, now_s, max_restarts_per_worker_per_hour=1)
        moved.append(done.moves)
        if number == 1:
            (plan,) = done.response.plans
            assert plan.status.startswith(
                "kept: best candidate gains enough but restarts a worker more times "
            )
            assert f"than the 1 allowed in an hour {PER_WORKER}" in plan.status
        request, memory = make.carried_out(request, done.response), done.memory
    assert [moves > 0 for moves in moved] == [True, False, False, False, False, True]


@pytest.mark.parametrize("size", SIZES)
def test_a_drain_stays_within_the_budget_of_its_site(make, size):
    """Small and large rounds; the status names the budget, and the next hour goes on."""
    request, memory, total = taxi(make, [0, 0, 1, 1, 3, 4, 3, 4]), NOTHING, 0
    request = drained(request, "europe-west1")
    for number in range(4):
        done = planned(request, memory, 10.0 * number, size, max_restarts_per_site_per_hour=3)
        total += restarted_at(request, done)["europe-west1"]
        request, memory = make.carried_out(request, done.response), done.memory
    assert total == 2
    assert done.on_drained_hosts == 2
    over = f"restarts more executors at europe-west1 than the 3 that may restart in an hour {PER_SITE}"
    assert f"2 executors stay on drained hosts, as that {over}" in done.response.plans[0].status
    later = planned(request, memory, 3700.0, size, max_restarts_per_site_per_hour=3)
    assert later.on_drained_hosts == 0


@pytest.mark.parametrize("size", SIZES)
def test_a_broken_avoidance_stays_within_the_budgets(make, size):
    """Of sites, and of workers that restarted already."""
    avoid = {"avoid": "site:europe-west1"}
    request = taxi(make, [0, 0, 1, 1, 3, 4, 3, 4], **avoid)
    done = planned(request, size=size, max_restarts_per_site_per_hour=3)
    assert restarted_at(request, done) == {"europe-west1": 2}
    following = make.carried_out(request, done.response)
    again = planned(following, done.memory, 10.0, size, max_restarts_per_site_per_hour=3)
    assert again.moves == 0
    over = f"restarts more executors at europe-west1 than the 3 that may restart in an hour {PER_SITE}"
    assert f"2 executors wait to move, as that {over}" in again.response.plans[0].status
    tasks = tuple(range(1, 9))
    spent = replace(Memory(), workers=(Restarted(0.0, "taxi-1", "europe-west1", tasks),))
    held = planned(request, spent, 10.0, size, max_restarts_per_worker_per_hour=1)
    assert held.moves == 0
    assert PER_WORKER in held.response.plans[0].status


def spent_at(site, executors, topology="other"):
    """A memory in which so many executors of another topology have restarted at a site."""
    return replace(Memory(), workers=(Restarted(0.0, topology, site, tuple(range(1, executors + 1))),))


def test_what_has_to_leave_a_site_does_not_wait_for_that_of_another_one(make):
    """Each has its own budget: that of the first one is spent."""
    request = taxi(make, [0, 0, 1, 1, 3, 4, 5, 6], avoid=["site:europe-west1", "site:us-east1"])
    done = planned(request, spent_at("europe-west1", 1), 10.0, max_restarts_per_site_per_hour=1)
    assert restarted_at(request, done) == {"us-east1": 1}
    assert ", 3 more wait as that restarts more executors at " in done.response.plans[0].status


def test_workers_that_are_joined_count_at_their_site(make):
    """What leaves would have to join a worker there, as no slot is free."""
    request = taxi(make, [0, 0, 1, 1, 2, 2, 3, 3], avoid="site:europe-west1")
    supervisors = (
        replace(each, ports=(6701,), meta=each.meta | {"stormplace.executors": "4"})
        for each in request.supervisors[:4]
    )
    request = replace(request, supervisors=tuple(supervisors))
    done = planned(request, spent_at("uniroma2", 3), 10.0, max_restarts_per_site_per_hour=3)
    assert done.moves == 0
    over = f"restarts more executors at uniroma2 than the 3 that may restart in an hour {PER_SITE}"
    assert f"2 executors wait to move, as that {over}" in done.response.plans[0].status
    assert planned(request, max_restarts_per_site_per_hour=3).moves == 2


def test_room_is_made_within_the_budgets(make):
    """The running executor is in the way of the missing one, which only its host may take."""
    topology = make.chain("t", [1, 1], [Grouping.SHUFFLE])
    topology = replace(
        make.assigned(topology, [3, UNASSIGNED], [6700, UNASSIGNED]),
        settings_json='{"topology.stormplace.pin": {"c1": "host:europe-west1-1"}}',
    )
    request = make.cluster(topology)
    meta = {"stormplace.site": "europe-west1", "stormplace.executors": "1"}
    supervisors = [*request.supervisors]
    supervisors[3] = replace(supervisors[3], meta=meta)
    request = replace(request, supervisors=tuple(supervisors))
    assert planned(request, max_restarts_per_site_per_hour=1).moves == 1
    spent = planned(request, spent_at("europe-west1", 1), 10.0, max_restarts_per_site_per_hour=1)
    over = "making room restarts more executors at europe-west1 than the 1 that may restart in an hour"
    assert spent.response.plans[0].status.startswith(f"not placed: {over} {PER_SITE}")


def test_placing_in_a_large_round_leaves_less_for_pins(make):
    """One executor restarts as the missing one joins it; of the two that have to leave one may."""
    pinned = '{"topology.stormplace.pin": {"c0": "host:uniroma2-1", "c1": "host:uniroma2-1"}}'
    avoiding = '{"topology.stormplace.avoid": "host:uniroma2-2"}'
    first, second = (make.chain(name, [1, 1], [Grouping.SHUFFLE]) for name in "ab")
    first = replace(make.assigned(first, [0, UNASSIGNED], [6700, UNASSIGNED]), settings_json=pinned)
    second = replace(make.assigned(second, [1, 1], [6700, 6701]), settings_json=avoiding)
    request = make.cluster(first, second)
    lone = replace(request.supervisors[0], ports=(6700,))
    request = replace(request, supervisors=(lone, *request.supervisors[1:]))
    done = planned(request, size="by counts", max_restarts_per_round=2)
    assert restarted_at(request, done) == {"uniroma2": 2}
    assert planned(request, size="by counts", max_restarts_per_round=3).restarts == 3
    site = planned(request, size="by counts", max_restarts_per_site_per_hour=2)
    assert restarted_at(request, site) == {"uniroma2": 2}


def test_a_larger_worker_than_a_site_may_restart_goes_alone(make):
    """Else it would wait for ever; with another one it waits for its hour."""
    request = drained(taxi(make, [0, 0, 1, 1, 3, 3, 3, 4]), "europe-west1")
    first = planned(request, max_restarts_per_site_per_hour=1)
    assert restarted_at(request, first) == {"europe-west1": 1}
    following = make.carried_out(request, first.response)
    second = planned(following, first.memory, 10.0, max_restarts_per_site_per_hour=1)
    assert second.restarts == 0
    third = planned(following, first.memory, 3600.0, max_restarts_per_site_per_hour=1)
    assert restarted_at(following, third) == {"europe-west1": 3}


@pytest.mark.parametrize("size", SIZES)
def test_what_is_missing_is_placed_whatever_is_spent(make, size):
    """With all budgets at zero."""
    where = [0, 0, 1, 1, 3, 4, 3, UNASSIGNED]
    topology = make.assigned(make.taxi(), where, [6701] * 7 + [UNASSIGNED])
    none = dict.fromkeys(
        ("max_restarts_per_hour", "max_restarts_per_site_per_hour", "max_restarts_per_worker_per_hour"), 0
    )
    done = planned(make.cluster(topology), size=size, **none)
    assert done.response.plans[0].decision is Decision.ASSIGN


def test_the_budget_of_the_hour_is_named(make):
    """Where it, and not that of a round, is spent."""
    request = taxi(make, SCATTERED, **PINNED)
    spent = replace(Memory(), restarts=((0.0, 8),))
    plan = planned(request, spent, 10.0, max_restarts_per_hour=8).response.plans[0]
    assert "restarts executors, 0 may restart in a round (move.max_restarts_per_hour)" in plan.status
    drain = drained(request, "europe-west1")
    held = planned(drain, spent, 10.0, max_restarts_per_hour=8, min_gain=1.0).response.plans[0]
    assert "as at most 0 may restart now (move.max_restarts_per_hour)" in held.status


def test_workers_are_remembered_for_an_hour_and_only_for_these_budgets(make):
    """A record has them, and older ones none."""
    request = taxi(make, SCATTERED, **PINNED)
    assert planned(request).memory.workers == ()
    memory = planned(request, max_restarts_per_site_per_hour=100).memory
    assert sum(len(each.executors) for each in memory.workers) == 8
    assert {each.time_s for each in memory.workers} == {0.0}
    assert memory_from_json(memory.to_json()) == memory
    old = json.loads(memory.to_json())
    del old["workers"]
    assert memory_from_json(json.dumps(old)).workers == ()
    later = planned(request, memory, 3600.0, max_restarts_per_site_per_hour=100, min_gain=1.0).memory
    assert later.workers == ()


@pytest.mark.parametrize("seed", range(6))
def test_no_hour_restarts_more_than_its_budgets(make, seed):
    """Prices and delays change in each round, and hosts are drained now and then."""
    chance = random.Random(seed)
    per_site, per_worker = chance.randint(1, 4), chance.randint(1, 2)
    weights = {"weights": {"response_time": 0.5, "cost": 0.5}}
    request = random_request(make, seed, lambda *_: weights, price)
    memory, past = NOTHING, []
    for number in range(10):
        now_s = 400.0 * number
        supervisors = (replace(each, meta=each.meta | price(chance)) for each in request.supervisors)
        request = replace(request, supervisors=tuple(supervisors), drains=())
        if chance.random() < 0.3:
            request = drained(request, chance.choice(["rome", "paris"]))
        done = planned(
            request,
            memory,
            now_s,
            max_restarts_per_site_per_hour=per_site,
            max_restarts_per_worker_per_hour=per_worker,
            min_gain=0.0,
        )
        workers = () if any(map(lacks, request.topologies)) else restarted_workers_of(request, done)
        past.extend((now_s, *each) for each in workers)
        hour = [each for each in past if now_s - each[0] < 3600.0]
        times = Counter(executor for _, _, executors in hour for executor in executors)
        assert max(times.values(), default=0) <= per_worker
        for site in {each[1] for each in hour}:
            there = [len(executors) for _, at, executors in hour if at == site]
            assert sum(there) <= per_site or len(there) == 1
        request, memory = make.carried_out(request, done.response), done.memory


def lacks(topology):
    """Whether executors are missing, for which workers restart whatever is spent."""
    return UNASSIGNED in topology.executor_supervisor


def price(chance):
    return {"stormplace.cost": str(chance.randint(1, 20))}
