"""A query on the network of Table 5: one move for what lasts, none for what does not."""

from __future__ import annotations

from itertools import pairwise

import pytest

from benchmarks.stability import Cluster, Query
from bridge.settings import MoveSettings
from bridge.wire.messages import Decision

NEAREST = frozenset(("uniroma2", "europe-west3"))


def settled(source="links", strategy="local-search", hosts_per_site=2, **move):
    """The query after a quarter of an hour: placed and cooled down."""
    query = Query(
        Cluster.of_experiment(source, hosts_per_site=hosts_per_site), MoveSettings(**move), strategy
    )
    query.round()
    query.now_s += 900.0
    return query


def sites_of(query):
    return {query.cluster.hosts[host] for host in query.hosts}


def test_the_query_is_placed_at_the_two_nearest_sites():
    """Four executors fit into uniroma2, four must leave it."""
    assert sites_of(settled()) == {"uniroma2", "europe-west3"}


def test_a_delay_that_triples_is_answered_by_one_move_within_90_s():
    """22 ms become 66 ms: the executors go to a site 28 ms away and stay there."""
    query = settled()
    query.cluster.delay_ms[NEAREST] *= 3
    changed_s = query.now_s
    statuses = [query.round().status for _ in range(40)]
    ((moved_s, gain),) = query.moves
    assert moved_s - changed_s == 30.0
    assert gain > 0.2
    assert "a gain waits until it has been seen for 30 s" in statuses[2]
    assert sites_of(query) <= {"uniroma2", "europe-west1", "europe-west4"}


def test_a_delay_that_triples_for_20_s_is_answered_by_no_move():
    """And again soon after."""
    query = settled()
    for _ in range(2):
        query.cluster.delay_ms[NEAREST] *= 3
        for _ in range(3):
            query.round()
        query.cluster.delay_ms[NEAREST] /= 3
        for _ in range(15):
            query.round()
    assert query.moves == []


@pytest.mark.parametrize(("min_gain", "moves", "site"), [(0.2, 0, "europe-west"), (0.1, 1, "europe-west3")])
def test_a_site_that_vanishes_costs_no_wait_and_its_return_at_most_one_move(min_gain, moves, site):
    """Its executors are placed in the round that sees it; what brings them back is the gain, if it passes."""
    query = settled(min_gain=min_gain)
    query.cluster.gone = frozenset({"europe-west3"})
    answer = query.round()
    assert (answer.decision, answer.price.executors_moved) == (Decision.ASSIGN, 0)
    assert "europe-west3" not in sites_of(query)
    for _ in range(6):
        query.round()
    query.cluster.gone = frozenset()
    for _ in range(40):
        query.round()
    assert len(query.moves) == moves
    assert all(each.startswith(("uniroma2", site)) for each in sites_of(query))


def test_a_stable_hour_moves_nothing():
    """Each round after the first one keeps everything."""
    query = settled("coordinates", "greedy")
    assert {query.round(every_s=60.0).decision for _ in range(60)} == {Decision.KEEP}


def test_noise_of_delays_moves_nothing():
    """Each is wrong by up to 20 % in each round anew: at 15 % some rounds see a gain, but none that lasts."""
    query = settled("links", hosts_per_site=3, min_gain=0.15)
    query.cluster.noise = 0.2
    answers = [query.round() for _ in range(120)]
    assert {answer.decision for answer in answers} == {Decision.KEEP}
    assert sum("a gain waits until it has been seen" in answer.status for answer in answers) > 3


def test_noise_of_coordinates_moves_nothing():
    """Each number of each coordinate is wrong by up to 20 % in each round anew."""
    query = settled("coordinates")
    query.cluster.noise = 0.2
    assert {query.round().decision for _ in range(120)} == {Decision.KEEP}


def test_noise_hardly_changes_the_status_of_what_is_kept():
    """Nimbus logs each change of it: no figure in it may follow the noise."""
    query = settled("links")
    query.cluster.noise = 0.02
    statuses = [query.round().status for _ in range(60)]
    assert sum(before != after for before, after in pairwise(statuses)) <= 6
