"""Narrow links: how long packets take over them, what they share, and what they count."""

from __future__ import annotations

import math
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.emulator.forwarder import Endpoint, ForwarderSetup
from lab.emulator.narrow_links import LinkTraffic, NarrowLink, NarrowLinks
from tests.lab.emulator.wires import FAR, Wires

A, B, C = range(3)
UPLINK_A = NarrowLink("uplink of a", (A,), 1000.0)
UPLINK_B = NarrowLink("uplink of b", (B,), 2000.0)
A_C = NarrowLink("a-c", (A, C), 500.0)
WAIT_S = 2.0


def test_a_packet_takes_its_size_over_the_bandwidth() -> None:
    links = NarrowLinks([UPLINK_A], WAIT_S)

    assert links.through_s(A, B, 500, 10.0) == 10.5
    assert links.through_s(B, C, 500, 10.0) == 10.0


def test_packets_wait_for_what_came_before_in_either_direction() -> None:
    links = NarrowLinks([UPLINK_A], WAIT_S)

    assert links.through_s(A, B, 500, 0.0) == 0.5
    assert links.through_s(C, A, 500, 0.1) == 1.0
    assert links.through_s(A, B, 100, 5.0) == 5.1


def test_all_links_of_a_way_are_passed() -> None:
    """The uplinks of both sites, and what is between them."""
    links = NarrowLinks([UPLINK_A, UPLINK_B, A_C], WAIT_S)

    assert links.through_s(A, B, 1000, 0.0) == 1.5
    assert links.through_s(C, A, 100, 10.0) == pytest.approx(10.3)
    assert [each.packets for each in links.traffic] == [2, 1, 1]


def test_between_hosts_of_a_site_only_a_link_of_its_own_counts() -> None:
    links = NarrowLinks([UPLINK_A, NarrowLink("a-a", (A, A), 100.0)], WAIT_S)

    assert links.through_s(A, A, 100, 0.0) == 1.0
    assert [each.bytes for each in links.traffic] == [0, 100]


def test_what_would_wait_too_long_is_dropped_and_takes_no_time() -> None:
    links = NarrowLinks([UPLINK_A], WAIT_S)

    assert [links.through_s(A, B, 1000, 0.0) for _ in range(4)] == [1.0, 2.0, 3.0, None]
    assert links.through_s(A, B, 1000, 1.0) == 4.0
    assert links.traffic == [LinkTraffic("uplink of a", packets=4, bytes=4000, dropped=1)]


def test_without_a_limit_packets_are_counted_only() -> None:
    links = NarrowLinks([NarrowLink("uplink of a", (A,), math.inf)], WAIT_S)

    assert links.through_s(A, B, 10**9, 3.0) == 3.0
    assert links.traffic[0].bytes == 10**9


def test_without_a_limit_nobody_waits_for_who_is_still_on_a_narrow_link() -> None:
    """What comes over another link to the same site is through at once, as it is there before."""
    uplink = NarrowLink("uplink of c", (C,), math.inf)
    links = NarrowLinks([uplink, A_C], WAIT_S)

    late_s = links.through_s(A, C, 100, 3.0)
    assert late_s is not None
    assert late_s > 3.0
    assert links.through_s(B, C, 100, 3.0) == 3.0


@given(st.lists(st.tuples(st.floats(0.0, 3.0), st.integers(1, 1500), st.sampled_from([(A, B), (C, A)]))))
def test_never_more_than_the_bandwidth(packets: list[tuple[float, int, tuple[int, int]]]) -> None:
    """From the first packet to the end of any later one there is time for all that came between."""
    links = NarrowLinks([UPLINK_A], math.inf)
    now_s, sent = 0.0, 0
    for pause_s, size, (source, target) in packets:
        now_s += pause_s
        sent += size
        through_s = links.through_s(source, target, size, now_s)
        assert through_s is not None
        assert through_s >= now_s + size / UPLINK_A.bytes_per_s - 1e-9
        assert sent <= UPLINK_A.bytes_per_s * (through_s - packets[0][0]) * (1.0 + 1e-9) + 1e-6


def test_a_setup_survives_its_journey_as_json() -> None:
    setup = ForwarderSetup(
        (Endpoint(7, "10.77.1.1", A),), [[0.0]], 1.0, [[0.1]], 3, (UPLINK_A, A_C, UPLINK_B), queue_ms=50.0
    )

    assert ForwarderSetup.from_json(setup.to_json()) == setup


def test_the_forwarder_drops_what_would_wait_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """A packet of 25 bytes takes a quarter of a second: the third waits for longer than the queue may be."""
    uplink = NarrowLink("uplink", (FAR,), 100.0)
    with closing(Wires(monkeypatch, 0.0, (uplink,))) as wires:
        for word in ("first", "other", "third"):
            wires.send(0, 2, word)
        wires.pass_by("all are read")
        assert wires.forwarder.counters.dropped == 2
        assert wires.receive(2) == "first"
