"""The daemon remembers each cluster apart, and forgets the one that it has not served for longest."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest

from bridge.server.clusters import Clusters
from bridge.server.handler import RoundHandler
from bridge.settings import MoveSettings, Settings
from bridge.wire.messages import Decision
from bridge.wire.structs import to_thrift
from formats.log import Log
from tests.bridge.round.small.stability_rounds import scattered


@pytest.mark.parametrize("others", [["east"], [None], ["east", None, "north"]])
def test_no_other_client_wipes_the_gain_that_a_cluster_watches(make, others):
    """Another cluster, or a client that names none, between the two rounds that see the gain."""
    settings = Settings(move=MoveSettings(stabilisation_s=1e-9))
    handler = RoundHandler(settings, None, Log(stream=io.StringIO()))
    query, empty = make.cluster(scattered(make)), make.cluster()

    def ask(request, name):
        return handler.call().plan(to_thrift(replace(request, cluster=name))).plans

    (first,) = ask(query, "west")
    assert first.decision == Decision.KEEP
    for name in others:
        ask(empty, name)
    (second,) = ask(query, "west")
    assert second.decision == Decision.ASSIGN


def test_clients_that_name_no_cluster_share_one_memory(make):
    """As before there were names."""
    settings = Settings(move=MoveSettings(stabilisation_s=1e-9))
    handler = RoundHandler(settings, None, Log(stream=io.StringIO()))
    request = to_thrift(make.cluster(scattered(make)))
    decisions = [handler.call().plan(request).plans[0].decision for _ in range(2)]
    assert decisions == [Decision.KEEP, Decision.ASSIGN]


def test_the_cluster_that_was_not_served_for_longest_is_forgotten():
    """The one without a name never is."""
    clusters = Clusters(most=2)
    unnamed, west, east = clusters.of(None), clusters.of("west"), clusters.of("east")
    assert clusters.of("west") is west
    clusters.of("north")
    assert clusters.of("west") is west
    assert clusters.of("east") is not east
    assert clusters.of(None) is unnamed
