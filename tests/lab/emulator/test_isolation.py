"""Isolated sites: which pairs they separate, and what happens to packets."""

from __future__ import annotations

from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.emulator.isolation import Isolation
from tests.lab.emulator.wires import FAR, NEAR, Wires

sites = st.integers(0, 4)


@given(st.lists(st.tuples(st.booleans(), sites), max_size=12), sites, sites)
def test_only_an_isolated_end_separates_and_never_within_a_site(
    changes: list[tuple[bool, int]], a: int, b: int
) -> None:
    """After any changes two sites are separated if they differ and the last change of either isolated it."""
    isolation = Isolation()
    last: dict[int, bool] = {}
    for isolates, site in changes:
        isolation = isolation.isolate(site) if isolates else isolation.rejoin(site)
        last[site] = isolates
    assert isolation.separates(a, b) == (a != b and (last.get(a, False) or last.get(b, False)))
    assert isolation.sites == {site for site, isolated in last.items() if isolated}


@pytest.mark.parametrize("isolated", [NEAR, FAR])
def test_packets_stop_between_sites_and_go_on_within(monkeypatch: pytest.MonkeyPatch, isolated: int) -> None:
    """Whichever end is isolated, packets pass within a site only; after rejoining they pass as before."""
    with closing(Wires(monkeypatch, far_ms=0.0)) as wires:
        wires.change(isolated=[isolated])
        wires.send(0, 2, "dropped")
        wires.pass_by("after it")
        assert wires.forwarder.counters.isolated == 1
        wires.change(isolated=[])
        wires.send(0, 2, "there")
        assert wires.receive(2) == "there"
        wires.send(2, 0, "and back")
        assert wires.receive(0) == "and back"
        assert wires.forwarder.counters.isolated == 1


def test_packets_under_way_arrive(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was sent before its site was isolated still arrives, what is sent afterwards does not."""
    with closing(Wires(monkeypatch, far_ms=200.0)) as wires:
        wires.send(0, 2, "under way")
        wires.pass_by("the first is read")
        wires.change(isolated=[FAR])
        wires.send(0, 2, "too late")
        assert wires.receive(2) == "under way"
        wires.change(isolated=[])
        wires.send(0, 2, "again")
        assert wires.receive(2) == "again"


def test_a_delay_set_while_isolated_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Isolating touches no delay, and a delay set meanwhile holds after rejoining."""
    with closing(Wires(monkeypatch, far_ms=60_000.0)) as wires:
        wires.change(isolated=[FAR])
        wires.change(a=NEAR, b=FAR, delay_ms=0.0)
        wires.change(isolated=[])
        wires.send(0, 2, "at once")
        assert wires.receive(2) == "at once"
