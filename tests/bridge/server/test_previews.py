"""Previews over the wire: on the last round of a cluster, which they do not change."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import replace

import pytest

from bridge.wire.contract import VERSION, idl
from bridge.wire.structs import to_thrift
from tests.bridge.round.planner_rounds import SCATTERED


def asked(client, **fields):
    request = idl.PreviewRequest(**{"version": VERSION, "topology": "taxi-1", **fields})
    return json.loads(client.preview(request).answer_json)


def reason(client, **fields):
    with pytest.raises(idl.Refused) as caught:
        asked(client, **fields)
    return caught.value.reason


def test_a_preview_is_of_the_last_round_and_changes_nothing(daemon, make):
    """The round that follows is the one that would have followed without it."""
    request = make.cluster(make.assigned(make.taxi(), SCATTERED, 6701))
    with closing(daemon.client()) as client:
        assert reason(client) == "no cluster has asked for a plan yet"
        first = client.plan(to_thrift(request))
        answer = asked(client)
        assert answer["next_round"]["status"] == first.plans[0].status
        assert answer["cluster"] is None
        assert answer["state_age_s"] >= 0
        assert answer["candidate"]["moves"]
        assert client.plan(to_thrift(request)).plans[0].status == first.plans[0].status
    assert len(daemon.events("round")) == 2


def test_a_preview_sees_the_last_answer_carried_out(daemon, make):
    """What was missing in the last round is placed."""
    with closing(daemon.client()) as client:
        client.plan(to_thrift(make.cluster(make.taxi())))
        answer = asked(client)
    assert (answer["next_round"]["decision"], answer["next_round"]["moves"]) == ("keep", [])
    assert answer["metrics"]["response_time_ms"]["staying"] > 0


def test_one_look_at_a_time(daemon, make, monkeypatch):
    """One that waits would hold a connection that rounds need."""
    with closing(daemon.client()) as client, closing(daemon.client()) as other:
        client.plan(to_thrift(make.cluster(make.taxi())))
        found = []
        monkeypatch.setattr(
            "bridge.server.previews.preview",
            lambda *_, **__: found.append(reason(other)) or {"topology": "t"},
        )
        assert asked(client)["topology"] == "t"
    assert found == ["another look is being taken: ask again"]


def test_a_failure_of_ours_is_an_answer_and_a_line_in_the_log(daemon, make, monkeypatch):
    """And the connection goes on."""
    with closing(daemon.client()) as client:
        client.plan(to_thrift(make.cluster(make.taxi())))
        with monkeypatch.context() as patch:
            patch.setattr("bridge.server.previews.preview", lambda *_, **__: 1 / 0)
            assert reason(client) == "the daemon failed to look: ZeroDivisionError: division by zero"
        assert asked(client)["topology"] == "taxi-1"
    assert len(daemon.events("preview failed")) == 1


def test_the_cluster_has_to_be_named_where_there_are_several(daemon, make):
    """With one it has not."""
    request = make.cluster(make.taxi())
    with closing(daemon.client()) as client:
        client.plan(to_thrift(replace(request, cluster="one")))
        assert asked(client)["cluster"] == "one"
        client.plan(to_thrift(replace(request, cluster="two")))
        several = "several clusters have asked for plans, so one has to be named: one, two"
        assert reason(client) == several
        assert asked(client, cluster="two")["cluster"] == "two"
        assert reason(client, cluster="three") == "cluster three has not asked for a plan; known: one, two"


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"version": 99}, "preview: contract version 99 is not known here, versions 1 to 1 are spoken"),
        ({"topology": None}, "preview.topology: missing"),
        ({"settings_json": "{"}, "preview.settings_json: not JSON"),
        ({"settings_json": "[]"}, "preview.settings_json: no JSON object"),
        ({"topology": "other"}, "the cluster has no topology other; it has taxi-1"),
        ({"drains": ["a"]}, "drain 'a' is neither host:NAME nor site:NAME"),
    ],
)
def test_bad_previews_are_refused_with_the_reason(daemon, make, fields, why):
    """And the daemon goes on."""
    with closing(daemon.client()) as client:
        client.plan(to_thrift(make.cluster(make.taxi())))
        assert reason(client, **fields).startswith(why)
        assert asked(client)["topology"] == "taxi-1"
