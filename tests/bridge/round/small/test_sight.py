"""No gain is believed that rests on missing readings; a cluster that never had any goes by its site table."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from bridge.network_settings import NetworkSettings
from bridge.round.memory import NOTHING, Memory, memory_from_json
from bridge.round.planner import plan_round
from bridge.settings import Settings
from bridge.wire.messages import Decision, Grouping
from tests.bridge.round.planner_rounds import hosts_of, only, stopped

NEAR = {"uniroma2": 0.0, "europe-west1": 0.0, "us-east1": 120.0}
FAR = {"uniroma2": 0.0, "europe-west1": 60.0, "us-east1": 120.0}
NEXT_DOOR = NetworkSettings(site_delay=({"between": ["uniroma2", "us-east1"], "delay_ms": 0.1},))


def pair(make, at, **settings):
    """c0 is pinned to uniroma2-1 (0) and sends to c1, which runs at this supervisor."""
    keys = {"topology.stormplace.pin": {"c0": "host:uniroma2-1"}}
    keys |= {f"topology.stormplace.{key}": value for key, value in settings.items()}
    topology = replace(make.chain("a", [1, 1], [Grouping.SHUFFLE]), settings_json=json.dumps(keys))
    return make.assigned(topology, [0, at])


def healthy(make):
    """c1 runs at europe-west1-1 (3), by coordinates next to c0; by uniform delays it is far away."""
    request = make.cluster(pair(make, 3))
    return with_distances(make, request, NEAR)


def with_distances(make, request, x_of_site, without=(), **changes):
    """The cluster whose sites are so far from the first, with readings of all but some hosts."""
    sites = {each.host: each.meta["stormplace.site"] for each in request.supervisors}
    return replace(
        request,
        readings=tuple(
            make.reading(host, site, x_of_site[site], **changes)
            for host, site in sites.items()
            if host not in without
        ),
    )


def with_room_for_one(request, dead=()):
    """Each host carries one executor; some are dead."""
    return replace(
        request,
        supervisors=tuple(
            replace(each, alive=index not in dead, meta={**each.meta, "stormplace.executors": "1"})
            for index, each in enumerate(request.supervisors)
        ),
    )


def aged(request, age_s):
    """The same readings, older."""
    return replace(request, readings=tuple(replace(each, age_ms=age_s * 1000) for each in request.readings))


def away(request, age_s):
    """ZooKeeper is away: the shim keeps what it has."""
    return replace(aged(request, age_s), readings_live=False)


def gone(request, age_s):
    """The agents' sessions end, and their readings with them."""
    return replace(request, readings=()) if age_s > 30 else aged(request, age_s)


def rounds(requests, memory=NOTHING):
    """The answer of each round, 10 s apart, and the memory at the end."""
    answers = []
    for number, request in enumerate(requests):
        done = plan_round(request, Settings(), stopped, memory=memory, now_s=10.0 * number)
        assert done.traces == ()
        memory = done.memory
        answers.append(done.response.plans[0])
    return answers, memory


@pytest.mark.parametrize(
    ("lose", "reason"),
    [
        (away, "kept: readings are not live; "),
        (aged, "kept: readings are stale (europe-west1, uniroma2); "),
        (gone, "kept: readings are missing (europe-west1, uniroma2); "),
    ],
)
def test_no_executor_moves_while_all_readings_are_lost(make, lose, reason):
    """Five minutes: ZooKeeper away, agents that hang, agents that are gone."""
    answers, _ = rounds([lose(healthy(make), age_s) for age_s in range(0, 301, 10)])
    assert [answer.decision for answer in answers] == [Decision.KEEP] * 31
    assert answers[-1].status.startswith(reason)


def test_a_cluster_that_never_had_agents_moves_by_its_site_table(make):
    """The same placement, the same delays as without readings: nothing was ever measured."""
    bare = replace(healthy(make), readings=())
    answers, memory = rounds([bare] * 4)
    assert [answer.decision for answer in answers] == [Decision.KEEP] * 3 + [Decision.ASSIGN]
    assert not memory.measured


def test_a_gain_is_believed_again_when_readings_are_back(make):
    """It has to last from then on."""
    far = with_distances(make, healthy(make), FAR)
    answers, _ = rounds([far, far, away(far, 10), *[far] * 4])
    assert [answer.decision for answer in answers] == [Decision.KEEP] * 6 + [Decision.ASSIGN]
    assert "a gain waits until it has been seen for 30 s" in answers[3].status


def test_that_delays_were_measured_is_remembered(make):
    """A memory that was recorded before rounds asked does not say."""
    _, memory = rounds([healthy(make), replace(healthy(make), readings=())])
    assert memory_from_json(memory.to_json()).measured
    assert memory_from_json('{"topologies": []}') == Memory(measured=None)


def test_one_lost_reading_is_no_reason_to_stay(make):
    """The medians of its site stand in for it: c1 leaves the far site for a gain that is measured."""
    request = with_distances(make, make.cluster(pair(make, 5)), FAR, without=("us-east1-1",))
    assert only(request).decision is Decision.ASSIGN


def test_what_runs_at_a_site_without_readings_stays(make):
    """How far it is cannot be known."""
    request = with_distances(make, make.cluster(pair(make, 5)), NEAR, without=("us-east1-1", "us-east1-2"))
    answer = only(request)
    assert answer.decision is Decision.KEEP
    assert answer.status.startswith("kept: readings are missing (us-east1); ")


def test_no_executor_moves_to_a_site_without_readings(make):
    """The table puts us-east1 next door; c1 moves to the best host that is measured, 20 ms away."""
    x = {"uniroma2": 20.0, "europe-west1": 90.0, "us-east1": 0.0}
    request = with_distances(make, make.cluster(pair(make, 3)), x, without=("us-east1-1", "us-east1-2"))
    first = make.reading("uniroma2-1", "uniroma2", 0.0)
    request = with_room_for_one(replace(request, readings=(first, *request.readings[1:])))
    answer = only(request, network=NEXT_DOOR)
    assert answer.decision is Decision.ASSIGN
    assert request.supervisors[answer.executor_supervisor[1]].host.startswith("uniroma2")


def test_a_candidate_whose_delays_are_guesses_is_not_believed(make):
    """Hosts of us-east1 measure each other and no one else, the table puts them next door."""
    x = {"uniroma2": 0.0, "europe-west1": 150.0, "us-east1": 0.0}
    beside = {"us-east1-2": {"delay_ms": 0.2, "age_s": 0.0}}
    lost = tuple(make.reading(f"us-east1-{k}", "us-east1", 0.0, error=9.0, links=beside) for k in (1, 2))
    request = with_distances(make, make.cluster(pair(make, 3)), x, without=("us-east1-1", "us-east1-2"))
    request = with_room_for_one(replace(request, readings=(*request.readings, *lost)), dead=(1, 2))
    answer = only(request, network=NEXT_DOOR)
    assert answer.decision is Decision.KEEP
    assert answer.status.startswith(
        "kept: best candidate is not believed, delays are not measured (uniroma2, us-east1) (ils (auto)); "
    )


def test_one_agent_per_site_is_enough(make):
    """Between sites medians count, within a site what is configured: c1 joins c0's site for a gain."""
    others = ("uniroma2-2", "uniroma2-3", "europe-west1-2", "us-east1-2")
    request = with_distances(make, make.cluster(pair(make, 5)), FAR, without=others)
    answer = only(with_room_for_one(request))
    assert answer.decision is Decision.ASSIGN
    assert request.supervisors[answer.executor_supervisor[1]].host in others[:2]


@pytest.mark.parametrize(
    ("silent", "reason"),
    [((), "moved 1 executor ("), (("europe-west1-1",), "kept: readings are missing (europe-west1); ")],
)
def test_availability_is_compared_only_where_it_is_read(make, silent, reason):
    """A host that is always up is better than c1's, of which nothing is known if its agent is silent."""
    request = make.cluster(pair(make, 3, weights={"availability": 1.0}))
    partly = with_distances(make, request, NEAR, without=("us-east1-1", *silent), availability=0.5)
    best = make.reading("us-east1-1", "us-east1", 120.0, availability=1.0)
    answer = only(with_room_for_one(replace(partly, readings=(*partly.readings, best))))
    assert answer.status.startswith(reason)


def test_missing_executors_are_placed_by_whatever_is_known(make):
    """They need a place now."""
    request = away(healthy(make), 60)
    (topology,) = request.topologies
    lost = make.assigned(topology, [0, -1], [6700, -1])
    assert only(replace(request, topologies=(lost,))).decision is Decision.ASSIGN


def test_neighbours_whose_readings_are_lost_stay_apart(make):
    """Once none of a site is seen what is configured for it is a guess, too: joining c0 would save 50 ms."""
    request = with_distances(make, make.cluster(pair(make, 1)), NEAR)
    answer = only(aged(request, 60), network=NetworkSettings(local_delay_ms=50.0))
    assert answer.status.startswith("kept: readings are stale (uniroma2); ")


def test_where_availability_is_weighed_hosts_without_a_reading_are_left_aside(make):
    """uniroma2-2 is the nearest and looks like any other; c1 moves to the next best, which is measured."""
    weights = {"availability": 0.5, "response_time": 0.5}
    request = make.cluster(pair(make, 5, weights=weights))
    request = with_room_for_one(with_distances(make, request, FAR, without=("uniroma2-2",)), dead=(2,))
    answer = only(request)
    assert answer.decision is Decision.ASSIGN
    assert request.supervisors[answer.executor_supervisor[1]].host.startswith("europe-west1")


def test_a_stale_reading_is_forgotten_if_no_delay_was_ever_measured(make):
    """An agent on trial reaches no other: while its reading is stale nothing moves, then the table counts."""
    alone = (make.reading("us-east1-2", "us-east1", 0.0),)
    trial = replace(healthy(make), readings=alone)
    bare = replace(trial, readings=())
    answers, memory = rounds([trial, away(trial, 60), aged(trial, 60), *[bare] * 4])
    assert [answer.decision for answer in answers] == [Decision.KEEP] * 6 + [Decision.ASSIGN]
    assert answers[2].status.startswith("kept: readings are missing (europe-west1, uniroma2); ")
    assert not memory.measured


def test_a_watched_host_that_falls_out_of_sight_hands_its_time_to_no_other(make):
    """c1 would come to europe-west1; when no host sees that any more, the next best place is watched."""
    x = {"uniroma2": 30.0, "europe-west1": 10.0, "us-east1": 120.0}
    request = with_room_for_one(with_distances(make, make.cluster(pair(make, 5)), x))
    first = make.reading("uniroma2-1", "uniroma2", 0.0)
    seen = replace(request, readings=(first, *request.readings[1:]))
    unseen = replace(seen, readings=tuple(each for each in seen.readings if "europe" not in each.name))
    answers, _ = rounds([seen, seen, *[unseen] * 4])
    assert [answer.decision for answer in answers] == [Decision.KEEP] * 5 + [Decision.ASSIGN]
    for answer in answers[1:3]:
        assert "a gain waits until it has been seen for 30 s" in answer.status
    assert hosts_of(seen, answers[5])[1].startswith("uniroma2")
