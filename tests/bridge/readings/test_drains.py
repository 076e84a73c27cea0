"""Which drains hold, and what of them is wrong."""

from __future__ import annotations

import json

import pytest

from bridge.readings.drains import read_drains
from bridge.wire.messages import Drain
from formats.drain import content_of

FOREVER = b'{"version": 1, "lifetime_s": null}'
A_MINUTE = b'{"version": 1, "lifetime_s": 60}'


def test_hosts_and_sites_are_covered():
    """By name and by site; a host of unknown site only by name."""
    drains = read_drains([Drain("host:a", FOREVER, 0), Drain("site:edge", FOREVER, 10**9)])
    assert drains.faults == ()
    assert [drains.cover(*each) for each in (("a", None), ("b", "edge"), ("b", None), ("edge", "a"))] == [
        True,
        True,
        False,
        False,
    ]


def test_a_drain_ends_after_its_lifetime():
    """To the millisecond."""
    assert read_drains([Drain("host:a", A_MINUTE, 59_999)]).left_s == {("host", "a"): pytest.approx(0.001)}
    assert read_drains([Drain("host:a", A_MINUTE, 60_000)]).left_s == {}


LATER = b'{"version": 2, "lifetime_s": 300, "begins_s": 100}'


def test_an_announced_drain_begins_at_its_time():
    """Until then nothing is to be emptied; then it holds for the rest of its lifetime."""
    before = read_drains([Drain("site:edge", LATER, 99_999)])
    assert before.left_s == {}
    assert before.begins_s("a", "edge") == pytest.approx(0.001)
    assert before.begins_s("a", None) is None
    assert not before.cover("a", "edge")
    after = read_drains([Drain("site:edge", LATER, 100_000)])
    assert after.left_s == {("site", "edge"): pytest.approx(200.0)}
    assert after.announced == {}
    assert read_drains([Drain("site:edge", LATER, 300_000)]).left_s == {}


def test_what_is_drained_already_is_not_announced():
    """Of several announcements the first counts."""
    sooner = LATER.replace(b"100", b"50")
    drains = read_drains([Drain("host:a", FOREVER, 0), Drain("site:s", LATER, 0), Drain("host:b", sooner, 0)])
    assert [drains.begins_s(*each) for each in (("a", "s"), ("b", "s"), ("c", "s"))] == [None, 50.0, 100.0]


def test_a_reader_of_before_would_refuse_an_announcement():
    """It knows version 1 only: it would empty the place at once otherwise."""
    assert json.loads(content_of(300.0, 100.0)) == json.loads(LATER)
    assert json.loads(content_of(300.0)) == {"version": 1, "lifetime_s": 300.0}


@pytest.mark.parametrize(
    ("place", "payload", "fault"),
    [
        ("host:a", b"", "drain host:a is malformed (not JSON)"),
        (
            "host:a",
            b'{"version": 3, "lifetime_s": null}',
            "drain host:a is malformed (version: Input should be 1 or 2)",
        ),
        ("host:a", b'{"version": 1}', "drain host:a is malformed (lifetime_s: Field required)"),
        (
            "host:a",
            b'{"version": 1, "lifetime_s": -1}',
            "drain host:a is malformed (lifetime_s: Input should be greater than 0)",
        ),
        (
            "host:a",
            b'{"version": 2, "lifetime_s": null, "begins_s": -1}',
            "drain host:a is malformed (begins_s: Input should be greater than or equal to 0)",
        ),
        ("rack:a", FOREVER, "drain 'rack:a' is neither host:NAME nor site:NAME"),
        ("host:", FOREVER, "drain 'host:' is neither host:NAME nor site:NAME"),
    ],
)
def test_what_cannot_be_read_empties_nothing_and_is_named(place, payload, fault):
    """One phrase each; the others hold."""
    drains = read_drains([Drain(place, payload, 0), Drain("host:b", FOREVER, 0)])
    assert drains.faults == (fault,)
    assert list(drains.left_s) == [("host", "b")]
