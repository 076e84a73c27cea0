"""Which drains hold, and what of them is wrong."""

from __future__ import annotations

import pytest

from bridge.readings.drains import read_drains
from bridge.wire.messages import Drain

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


@pytest.mark.parametrize(
    ("place", "payload", "fault"),
    [
        ("host:a", b"", "drain host:a is malformed (not JSON)"),
        (
            "host:a",
            b'{"version": 2, "lifetime_s": null}',
            "drain host:a is malformed (version: Input should be 1)",
        ),
        ("host:a", b'{"version": 1}', "drain host:a is malformed (lifetime_s: Field required)"),
        (
            "host:a",
            b'{"version": 1, "lifetime_s": -1}',
            "drain host:a is malformed (lifetime_s: Input should be greater than 0)",
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
