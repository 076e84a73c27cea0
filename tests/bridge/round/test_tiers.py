"""Executors run at the tiers that their topology names, in small rounds, large ones and replayed ones."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from functools import partial

import pytest

from bridge.network_settings import NetworkSettings
from bridge.record.record import RoundRecord, versions
from bridge.record.replay_record import replay
from bridge.round.memory import NOTHING
from bridge.round.planner import plan_round
from bridge.round.preview import Change, PreviewError, preview
from bridge.settings import MoveSettings, PlanSettings, Settings
from bridge.wire.encoding import decode_response, encode_request, encode_response
from bridge.wire.messages import Decision, Drain, Grouping
from scheduler.contract.children import INLINE

TIERS = ("edge", "fog", "cloud")
AT_ONCE = MoveSettings(cool_down_s=0, stabilisation_s=0)
SMALL = Settings(move=AT_ONCE)
COUNTS = Settings(move=AT_ONCE, plan=PlanSettings(max_pairs=1), network=NetworkSettings(max_hosts=1))
SIZES = pytest.mark.parametrize(
    "size",
    [(4, SMALL), (4, COUNTS), (2000, SMALL), (2000, COUNTS)],
    ids=["few hosts", "few hosts by counts", "many hosts", "many hosts by counts"],
)


def tier_of(number):
    """Hosts h0, h1, h2 are of edge, fog and cloud, and so on; h3 and each fourth one after it of none."""
    return (*TIERS, None)[number % 4]


def cluster(make, n_hosts, *topologies, tiers=tier_of):
    """Hosts at one site whose supervisors state their tiers."""
    return replace(
        make.cluster(*topologies),
        supervisors=tuple(
            make.supervisor(
                f"h{number}",
                meta={"stormplace.site": "s"}
                | ({"stormplace.tier": tier} if (tier := tiers(number)) else {}),
                cpu_percent=400.0,
            )
            for number in range(n_hosts)
        ),
        readings=(),
    )


def topology(make, parallelism=(2, 2), name="t", **settings):
    """A chain c0 -> c1 and so on."""
    keys = {f"topology.stormplace.{key}": value for key, value in settings.items()}
    chain = make.chain(name, parallelism, [Grouping.SHUFFLE] * (len(parallelism) - 1))
    return replace(chain, settings_json=json.dumps(keys))


def planned(request, settings):
    """The plans of a round in which nothing went wrong."""
    done = plan_round(request, settings, lambda: 0.0)
    assert done.traces == ()
    return done.response.plans


def where(plan, component, request):
    """Number of a component's executors at each tier."""
    chosen = zip(request.topologies[0].executor_component, plan.executor_supervisor, strict=True)
    return Counter(tier_of(host) for own, host in chosen if own == component)


@SIZES
@pytest.mark.parametrize(
    ("keys", "first", "second"),
    [
        ({"pin": {"c0": "tier:edge", "c1": "tier:cloud"}}, ("edge",), ("cloud",)),
        ({"avoid": {"*": ["tier:edge", "tier:cloud"], "c0": "tier:fog"}}, (None,), ("fog", None)),
        ({"avoid": ["tier:edge", "tier:fog", "tier:cloud"]}, (None,), (None,)),
        ({"allow": {"c0": ["tier:fog", "tier:edge"], "c1": "host:h3"}}, ("edge", "fog"), (None,)),
        (
            {"allow": {"*": ["tier:fog", "tier:edge"], "c1": ["tier:fog", "host:h2"]}},
            ("edge", "fog"),
            ("fog",),
        ),
        ({"allow": ["tier:fog", "site:nowhere"], "pin": {"c0": "site:s"}}, ("fog",), ("fog",)),
        ({"pin": {"c0": "tier:fog"}, "allow": ["tier:cloud", "host:h1"]}, ("fog",), ("cloud", "fog")),
    ],
    ids=str,
)
def test_executors_run_only_where_pins_allowed_places_and_avoidances_let_them(
    make, size, keys, first, second
):
    """On few hosts and many, executor by executor and by counts; where they are placed they stay."""
    n_hosts, settings = size
    request = cluster(make, n_hosts, topology(make, **keys))
    done = plan_round(request, settings, lambda: 0.0)
    (plan,) = done.response.plans
    assert plan.decision is Decision.ASSIGN, plan.status
    assert (plan.strategy == "packing") is (settings is COUNTS)
    assert where(plan, 0, request).keys() <= set(first)
    assert where(plan, 1, request).keys() <= set(second)
    (following,) = planned(make.carried_out(request, done.response), settings)
    assert following.decision is Decision.KEEP, following.status


@SIZES
def test_many_executors_share_the_hosts_of_their_tier(make, size):
    """Also where it has more executors than one of its hosts has cores."""
    n_hosts, settings = size
    wide = topology(make, (2, 12), pin={"c1": "tier:fog"}, avoid={"c0": "tier:fog"})
    request = cluster(make, n_hosts, wide)
    (plan,) = planned(request, settings)
    assert plan.decision is Decision.ASSIGN, plan.status
    assert where(plan, 1, request) == {"fog": 12}
    assert where(plan, 0, request)["fog"] == 0


@SIZES
@pytest.mark.parametrize(
    ("keys", "left"),
    [
        ({"pin": {"c0": "tier:edge"}}, 0),
        ({"avoid": "tier:cloud"}, 0),
        ({"allow": {"c0": ["tier:edge", "tier:fog"]}}, 0),
        ({"allow": {"c1": ["host:h2", "host:h1"]}}, 1),
    ],
    ids=str,
)
def test_what_runs_where_it_may_not_moves(make, size, keys, left):
    """c0 runs at the cloud, c1 on a host of unknown tier."""
    n_hosts, settings = size
    request = cluster(make, n_hosts, make.assigned(topology(make, (1, 1), **keys), [2, 3]))
    done = plan_round(request, settings, lambda: 0.0)
    (plan,) = done.response.plans
    assert plan.decision is Decision.ASSIGN, plan.status
    assert plan.executor_supervisor[left] != (2, 3)[left]
    (following,) = planned(make.carried_out(request, done.response), settings)
    assert following.decision is Decision.KEEP, following.status


@SIZES
@pytest.mark.parametrize(
    "keys",
    [
        {"pin": {"c1": "tier:edge"}},
        {"allow": {"c1": ["tier:edge", "host:h1"]}},
        {"avoid": {"c1": ["tier:edge", "tier:fog", "tier:cloud"]}},
    ],
    ids=str,
)
def test_what_runs_on_a_host_of_unknown_tier_stays(make, size, keys):
    """Nothing new would come there for a pin, but c1 need not leave."""
    n_hosts, settings = size
    (plan,) = planned(cluster(make, n_hosts, make.assigned(topology(make, (1, 1), **keys), [3, 3])), settings)
    assert plan.decision is Decision.KEEP, plan.status
    assert "pin not met" not in plan.status


@SIZES
@pytest.mark.parametrize(
    ("keys", "others", "reason"),
    [
        ({"pin": {"c0": "tier:cloud"}}, "fog", "is pinned to tier:cloud, which is not in the cluster"),
        (
            {"pin": {"c0": "tier:cloud"}},
            None,
            "is pinned to tier:cloud, whose hosts are not known at present (1 host has no tier)",
        ),
        (
            {"allow": {"*": ["tier:cloud", "site:mars"]}},
            "fog",
            "may run only at tier:cloud or site:mars, none of which is in the cluster",
        ),
        (
            {"allow": {"c0": "tier:edge"}, "pin": {"c0": "tier:fog"}},
            "fog",
            "is pinned to tier:fog and may run only at tier:edge, where no usable host is permitted",
        ),
        (
            {"allow": {"c0": "tier:edge", "*": "tier:fog"}},
            "fog",
            "may run only at tier:fog and may run only at tier:edge, where no usable host is permitted",
        ),
        (
            {"allow": {"c0": "tier:edge"}, "avoid": "tier:edge"},
            "fog",
            "may run only at tier:edge, where no usable host is permitted",
        ),
    ],
    ids=str,
)
def test_a_topology_that_may_run_nowhere_is_told_why(make, size, keys, others, reason):
    """By the places that do not go together. h0 is of the edge, h1 of the fog, h2 perhaps of none."""
    n_hosts, settings = size
    tiers = {0: "edge", 2: others}
    impossible, other = topology(make, (1, 1), **keys), topology(make, (1, 1), "u")
    request = cluster(make, n_hosts, impossible, other, tiers=lambda number: tiers.get(number, "fog"))
    refused, placed = planned(request, settings)
    assert refused.decision is Decision.UNPLACEABLE
    assert f"c0 {reason}" in refused.status
    assert placed.decision is Decision.ASSIGN


@pytest.mark.parametrize("settings", [SMALL, COUNTS], ids=["small", "by counts"])
def test_hosts_that_may_have_lost_their_tier_are_second_choice_where_one_is_avoided(make, settings):
    """Agents tell tiers; those of h0 and h1 are silent, and h3 is known to be of the fog."""
    avoiding = topology(make, (1, 1), avoid=["tier:edge", "tier:cloud"])
    request = replace(
        cluster(make, 4, avoiding, tiers=lambda _: None),
        readings=(make.reading("h2", "s", 0.0, tier="edge"), make.reading("h3", "s", 9.0, tier="fog")),
    )
    (plan,) = planned(request, settings)
    assert set(plan.executor_supervisor) <= ({3} if settings is SMALL else {0, 1, 3})


@pytest.mark.parametrize("settings", [SMALL, COUNTS], ids=["small", "by counts"])
def test_what_leaves_a_drained_host_stays_at_its_tier(make, settings):
    """h4 is the other host of the edge; if it is not there c0 stays, and its status says why."""
    running = make.assigned(topology(make, (1, 1), allow={"c0": "tier:edge"}), [0, 1])
    drained = {"drains": (Drain("host:h0", b'{"version": 1, "lifetime_s": null}', 0),)}
    (moved,) = planned(replace(cluster(make, 5, running), **drained), settings)
    assert moved.executor_supervisor == (4, 1)
    (kept,) = planned(replace(cluster(make, 4, running), **drained), settings)
    assert kept.decision is Decision.KEEP
    assert "c0 may run only at tier:edge, where no usable host is permitted" in kept.status


def test_a_preview_says_what_other_places_would_do(make):
    """Bad ones are refused, as a round would ignore them."""
    request = cluster(make, 4, make.assigned(topology(make, (1, 1)), [0, 1]))
    look = partial(preview, request, "t", settings=SMALL, clock=lambda: 0.0, now_s=0.0, children=INLINE)
    change = Change({"topology.stormplace.allow": {"*": ["tier:fog", "tier:cloud"]}}, ())
    (move,) = look(change=change, memory=NOTHING)["next_round"]["moves"]
    assert (move["from"]["host"], move["to"]["host"]) in {("h0", "h1"), ("h0", "h2")}
    with pytest.raises(PreviewError, match=r"what-if: topology\.stormplace\.allow: a place is "):
        look(change=Change({"topology.stormplace.allow": "tier:mist"}, ()), memory=NOTHING)


def test_the_status_counts_executors_by_tier(make):
    """Where a host has one; what is unknown is said."""
    pinned = topology(make, (1, 2), pin={"c0": "tier:cloud", "c1": "host:h3"})
    (plan,) = planned(cluster(make, 4, pinned), SMALL)
    assert "over 2 hosts (site s 3; tiers cloud 1, unknown 2)" in plan.status
    (plain,) = planned(cluster(make, 4, topology(make), tiers=lambda _: None), SMALL)
    assert "tier" not in plain.status


@pytest.mark.parametrize("settings", [SMALL, COUNTS], ids=["small", "by counts"])
def test_a_recorded_round_finds_the_same_tiers(make, settings):
    """Tiers come from a supervisor, a reading and the settings: the record holds all three."""
    network = settings.network.model_copy(update={"site": _sites()})
    settings = settings.model_copy(update={"network": network})
    pinned = topology(make, (1, 1, 1), pin={f"c{k}": f"tier:{tier}" for k, tier in enumerate(TIERS)})
    request = replace(
        make.cluster(pinned),
        supervisors=(
            make.supervisor("a", meta={"stormplace.tier": "edge"}),
            make.supervisor("b"),
            make.supervisor("c", meta={"stormplace.site": "rome"}),
        ),
        readings=(make.reading("b", "oslo", 0.0, tier="fog"),),
    )
    done = plan_round(request, settings, lambda: 0.0)
    record = RoundRecord(
        request=encode_request(request),
        response=encode_response(done.response),
        settings_json=settings.to_json(),
        settings_digest=settings.digest(),
        time_s=1.0,
        timings_ms={},
        timed_out=False,
        versions=versions(),
        now_s=0.0,
        memory=None,
    )
    again = replay(record)
    assert again == record.response
    assert decode_response(again).plans[0].executor_supervisor == (0, 1, 2)


def _sites():
    return NetworkSettings.model_validate({"site": [{"name": "rome", "tier": "cloud"}]}).site
