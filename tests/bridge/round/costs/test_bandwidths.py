"""Topologies share the bandwidth between sites: one book of all of their flows."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

import pytest

from bridge.round.memory import NOTHING, memory_from_json
from bridge.round.planner import plan_round
from bridge.settings import MoveSettings
from bridge.wire.messages import Decision
from tests.bridge.round.costs.tier_rounds import chain, planned, settings_of, sites_of, tiers

KEYS = {"pin": {"c0": "site:e1"}, "rates": {"c0": 100, "c1": 10}}
"""10 kB/s leave the source, 1 kB/s what follows."""
FAR = {"allow": {"c1": ["site:f1", "site:c1"]}}
STRATEGIES = pytest.mark.parametrize(
    "strategy", ["auto", "inop-exact", "inop-search", "inop-comb-2", "portfolio"]
)


def uplinks(**limits):
    """Settings of some sites' uplinks, bytes/s."""
    return {"site": [{"name": name, "uplink_bytes_per_s": limit} for name, limit in limits.items()]}


def sent(request, plans, parallelism=1):
    """Bytes per second over each site's uplink, worked out anew from where executors run.

    Of chains c0 -> c1 -> c2 with rates of 100 and 10 tuples/s of 100 bytes.
    """
    total = Counter()
    for plan in plans:
        sites = sites_of(plan, request)
        parts = [sites[k * parallelism : (k + 1) * parallelism] for k in range(3)]
        for rate, sources, targets in ((100.0, parts[0], parts[1]), (10.0, parts[1], parts[2])):
            for source in sources:
                for target in targets:
                    if source != target:
                        share = rate * 100.0 / len(sources) / len(targets)
                        total[source] += share
                        total[target] += share
    return total


@STRATEGIES
def test_a_narrow_uplink_keeps_the_first_bolt_near(make, strategy):
    """It would carry what the bolt emits and not what it takes."""
    keys = {**KEYS, "strategy": strategy, "weights": {"link_cost": 1}}
    request = tiers(make, chain(make, "t", (1, 1, 1), {**keys, "pin": {"c0": "site:e1", "c2": "site:c1"}}))
    links = [{"between": ["e1", "c1"], "cost": 1.0}, {"between": ["e1", "f1"], "cost": 9.0}]
    rest = [(one, other) for one, other in (("e1", "e2"), ("e2", "f1"), ("e2", "c1"), ("f1", "c1"))]
    costs = {"link": [*links, *({"between": [*pair], "cost": 9.0} for pair in rest)]}
    (wide,) = planned(request, settings_of(costs))
    (plan,) = planned(request, settings_of({**costs, **uplinks(e1=5000.0)}))
    assert sites_of(wide, request)[1] in ("e1", "c1")
    assert sites_of(plan, request) == ["e1", "e1", "c1"]
    assert "uplink e1 1 of 5 kB/s" in plan.status


@STRATEGIES
@pytest.mark.parametrize("parallelism", [1, 2])
def test_no_uplink_is_over_its_bandwidth(make, strategy, parallelism):
    """Three topologies that would each fit alone; what the former ones send is taken off."""
    keys = {**KEYS, "strategy": strategy, "pin": {"c0": "site:e1", "c2": "site:c1"}}
    size = (parallelism,) * 3
    topologies = [
        replace(chain(make, name, size, keys), launched_s=k) for k, name in enumerate(("a", "b", "c"))
    ]
    request = tiers(make, *topologies, times=4)
    limits = {"e1": 12_500.0, "f1": 11_000.0}
    plans = planned(request, settings_of(uplinks(**limits)))
    assert all(plan.decision is Decision.ASSIGN for plan in plans)
    loads = sent(request, plans, parallelism)
    assert all(loads[site] <= limit * (1 + 1e-9) for site, limit in limits.items())
    said = re.findall(r"uplink e1 ([\d.]+) of 12.5 kB/s", plans[-1].status)
    assert [float(each) for each in said] == [pytest.approx(loads["e1"] / 1000, rel=1e-3)]


def test_a_link_of_two_sites_is_a_limit_of_its_own(make):
    """To the fog there is room for what the bolt takes, to the cloud there is not."""
    keys = {**KEYS, **FAR}
    request = tiers(make, chain(make, "t", (1, 1), {**keys, "avoid": "site:f1"}))
    narrow = {"link": [{"between": ["c1", "e1"], "bandwidth_bytes_per_s": 9_999.0}]}
    (alone,) = planned(tiers(make, chain(make, "t", (1, 1), keys)), settings_of(narrow))
    assert sites_of(alone, request)[1] == "f1"
    (plan,) = planned(request, settings_of(narrow))
    assert plan.decision is Decision.ASSIGN
    assert "above the bandwidth of links as none was found within" in plan.status
    assert "link e1 - c1 10 of 9.999 kB/s" in plan.status.replace("c1 - e1", "e1 - c1")


def test_strict_resources_refuse_what_is_above(make):
    """The sentence names the way; another topology is placed."""
    request = tiers(make, chain(make, "a", (1, 1), {**KEYS, **FAR}), chain(make, "b", (1, 1), {}))
    first, second = planned(request, settings_of(uplinks(e1=9_999.0), resources="strict"))
    assert first.decision is Decision.UNPLACEABLE
    assert "bandwidth" in first.status
    assert second.decision is Decision.ASSIGN


def test_what_is_above_soft_capacities_and_bandwidths_says_both(make):
    """The only host that c1 may have needs 150 % of its CPU for it, and is behind a narrow uplink."""
    keys = {**KEYS, "allow": {"c1": ["host:c1-0000"]}}
    topology = replace(chain(make, "t", (1, 1), keys), executor_cpu_percent=(10.0, 150.0))
    request = tiers(make, topology)
    hosts = tuple(replace(each, cpu_percent=100.0) for each in request.supervisors)
    (plan,) = planned(replace(request, supervisors=hosts), settings_of(uplinks(e1=5_000.0)))
    assert "above the bandwidth of links as none was found within" in plan.status
    assert "c1-0000 at 150% of its CPU" in plan.status


def test_a_strategy_that_looks_at_no_links_goes_above(make):
    """`cloud-greedy` is placed all the same, and its status says how full the uplink is."""
    keys = {**KEYS, "strategy": "cloud-greedy", "frozen": True}
    request = tiers(make, chain(make, "t", (1, 1), keys))
    (plan,) = planned(request, settings_of(uplinks(e1=5_000.0), resources="strict"))
    assert sites_of(plan, request) == ["e1", "c1"]
    assert "uplink e1 10 of 5 kB/s" in plan.status


def test_what_runs_above_a_bandwidth_moves_whatever_it_gains(make):
    """A limit that is stated afterwards; then nothing moves any more."""
    request = tiers(make, chain(make, "t", (1, 1, 1), {**KEYS, **FAR}))
    before = make.carried_out(request, _response(request, settings_of({})))
    later = chain(make, "t", (1, 1, 1), KEYS)
    running = replace(before, topologies=(replace(before.topologies[0], settings_json=later.settings_json),))
    (plan,) = planned(running, settings_of(uplinks(e1=5_000.0)))
    assert plan.decision is Decision.ASSIGN
    assert "as the bandwidth of e1-(uplink) is exceeded" in plan.status
    assert sites_of(plan, running) == ["e1", "e1", "e1"]
    after = make.carried_out(running, _response(running, settings_of(uplinks(e1=5_000.0))))
    (kept,) = planned(after, settings_of(uplinks(e1=5_000.0)))
    assert kept.decision is Decision.KEEP
    assert "uplink e1" not in kept.status


@pytest.mark.parametrize(
    ("keys", "move"),
    [
        ({"replan.persistence": "pin"}, {}),
        ({}, {"freeze": [{"begin": "00:00", "end": "23:00"}]}),
    ],
    ids=["only what has to move", "a freeze window"],
)
def test_what_runs_above_a_bandwidth_moves_where_nothing_moves_for_a_gain(make, keys, move):
    """As what breaks a limit of its own does; what breaks none stays."""
    above = make.assigned(chain(make, "a", (1, 1), {**KEYS, **keys}), [0, 6])
    within = make.assigned(chain(make, "b", (1, 1), {"pin": {"c0": "site:f1"}, **keys}), [3, 7])
    settings = settings_of(uplinks(e1=5_000.0))
    at_once = MoveSettings.model_validate({"cool_down_s": 0, "stabilisation_s": 0, **move})
    settings = settings.model_copy(update={"move": at_once})
    done = plan_round(tiers(make, above, within), settings, lambda: 0.0, unix_s=43_200.0)
    moved, kept = done.response.plans
    assert "as the bandwidth of e1-(uplink) is exceeded" in moved.status
    assert kept.decision is Decision.KEEP
    assert re.search("only what has to move does|no moves for gains", kept.status)


def test_what_cannot_be_within_stays_and_is_named(make):
    """Nowhere else is it better: a loud status, no restart."""
    request = tiers(make, chain(make, "t", (1, 1), {**KEYS, **FAR}))
    after = make.carried_out(request, _response(request, settings_of(uplinks(e1=5_000.0))))
    (kept,) = planned(after, settings_of(uplinks(e1=5_000.0)))
    assert kept.decision is Decision.KEEP
    assert "the bandwidth of e1-(uplink) is exceeded: no candidate" in kept.status


def test_what_the_others_send_counts_on_many_hosts(make):
    """The second of two topologies on two thousand hosts finds the uplink taken, and stays near."""
    keys = {**KEYS, "pin": {"c0": "site:e1", "c2": "site:c1"}}
    first, second = (replace(chain(make, name, (1, 1, 1), keys), launched_s=k) for k, name in enumerate("ab"))
    request = tiers(make, first, second, times=167)
    settings = settings_of(uplinks(e1=10_500.0))
    plans = planned(request, settings)
    loads = sent(request, plans)
    assert loads["e1"] <= 10_500.0
    # its status speaks of all of them
    assert f"uplink e1 {loads['e1'] / 1000:.4g} of 10.5 kB/s" in plans[1].status
    wide = planned(request, settings_of(uplinks(e1=5_000.0)))
    assert sent(request, wide)["e1"] == pytest.approx(2_000.0)


def test_a_measured_bandwidth_outlasts_the_silence_of_its_agent(make):
    """For half an hour: nothing moves over the narrow way, and nothing back, while an agent begins anew."""
    keys = {
        **KEYS,
        "pin": {"c0": "site:e1", "c2": "site:c1"},
        "tuple.bytes": {"c1": 1},
        "weights": {"link_cost": 1},
        "destination": {"c1": "site:c1"},
    }
    link = {"delay_ms": 60.2, "age_s": 1.0, "samples": 5, "loss": 0.0, "availability": 1.0}
    narrow = {"c1-0000": {**link, "bandwidth_bytes_per_s": 5_000.0}}
    speaking = make.reading("e1-0000", "e1", 0.0, links=narrow)
    request = tiers(make, chain(make, "t", (1, 1, 1), keys))
    memory, sites = NOTHING, []
    for now_s, age_ms in ((0.0, 500), (60.0, 600_000), (1_800.0, 600_000), (1_860.0, 500)):
        first = replace(speaking, age_ms=age_ms)
        others = tuple(each for each in request.readings if each.name != "e1-0000")
        request = replace(request, readings=(first, *others))
        done = plan_round(request, settings_of({}), lambda: 0.0, memory=memory, now_s=now_s)
        memory = memory_from_json(done.memory.to_json())
        request = make.carried_out(request, done.response)
        sites.append(request.supervisors[request.topologies[0].executor_supervisor[1]].host[:2])
    assert sites == ["f1", "f1", "c1", "f1"]


def _response(request, settings):
    return plan_round(request, settings, lambda: 0.0).response
