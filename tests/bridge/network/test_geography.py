"""What is shown of the network agrees with what the planner makes of the same readings."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bridge.network.delays import Provenance
from bridge.network.geography import ReadingState, survey, worst_first
from bridge.settings import Settings
from bridge.wire.contract import VERSION
from bridge.wire.messages import PlanRequest, Reading, ReadingKind, Supervisor


def reading(
    host: str, x: float | None, /, *, age_s: float = 1.0, links: Any = None, **changes: Any
) -> Reading:
    """A host on a line, whose delay to another is the distance; without a place its error is too large."""
    content = {
        "version": 1,
        "time": 1.0,
        "sequence": 1,
        "lifetime_s": 30.0,
        "host": host,
        "site": host[0],
        "coordinate": [x or 0.0, 0.0],
        "height": 0.0,
        "error": 0.1 if x is not None else 1.5,
        "availability": 0.99,
        "load": {"cpu": 0.1, "memory": 0.2},
        "links": {peer: {"delay_ms": delay, "age_s": 1.0} for peer, delay in (links or {}).items()},
        **changes,
    }
    return Reading(ReadingKind.NODE, host, json.dumps(content).encode(), int(age_s * 1000))


def look(
    *readings: Reading, supervisors: tuple[str, ...] | None = None, settings: Settings | None = None
) -> Any:
    hosts_ = tuple(Supervisor(name, name, (), True, False, 0.0, 0.0, {}) for name in supervisors or ())
    request = PlanRequest(VERSION, "round", 0, hosts_, (), readings, readings_live=True)
    return survey(request, settings or Settings(), supervisors_known=supervisors is not None)


def host(geography: Any, name: str) -> Any:
    return next(each for each in geography.hosts if each.name == name)


def cells(geography: Any) -> dict[str, tuple[float | None, Provenance | None, int, int]]:
    names = (*geography.sites, "-")
    return {
        names[cell.sites[0]] + names[cell.sites[1]]: (cell.delay_ms, cell.source, cell.pairs, cell.all_pairs)
        for cell in geography.cells
    }


def test_a_cell_is_the_median_of_the_pairs_with_the_best_source_alone() -> None:
    """Two of four pairs between a and b are measured; coordinates say 10 ms, and 0 ms within a site."""
    seen = look(
        reading("a-1", 0.0, links={"b-1": 11.0, "b-2": 13.0}),
        reading("a-2", 0.0),
        reading("b-1", 10.0),
        reading("b-2", 10.0),
    )
    assert cells(seen) == {
        "aa": (0.0, Provenance.COORDINATES, 1, 1),
        "ab": (12.0, Provenance.MEASURED, 2, 4),
        "bb": (0.0, Provenance.COORDINATES, 1, 1),
    }


def test_a_site_with_one_host_has_no_delay_within() -> None:
    """No pair, no number; and hosts without a site stand apart."""
    seen = look(reading("a-1", 0.0), reading("b-1", 7.0, site=None))
    assert cells(seen) == {
        "aa": (None, None, 0, 0),
        "a-": (7.0, Provenance.COORDINATES, 1, 1),
        "--": (None, None, 0, 0),
    }


def test_the_overhead_of_a_hop_is_no_delay_of_the_network() -> None:
    """The planner adds it; who looks at the network wants what was measured."""
    assert Settings().network.hop_overhead_ms > 0
    seen = look(reading("a-1", 0.0, links={"b-1": 5.0}), reading("b-1", 5.0))
    assert cells(seen)["ab"][0] == 5.0


def test_a_coordinate_is_judged_by_the_hosts_own_links() -> None:
    """a-1 is off by 20 % and 0 % to its two peers, which are off by 20 % and 0 % themselves."""
    seen = look(
        reading("a-1", 0.0, links={"b-1": 12.5, "c-1": 20.0}), reading("b-1", 10.0), reading("c-1", 20.0)
    )
    measured = {each.name: (each.measured_error, each.links) for each in seen.hosts}
    assert measured["a-1"] == (pytest.approx(0.1), 2)
    assert measured["b-1"] == (pytest.approx(0.2), 1)
    assert measured["c-1"] == (pytest.approx(0.0), 1)


def test_coordinates_that_are_not_used_for_planning_are_judged_all_the_same() -> None:
    """Eight pairs off by half: the guard holds them back, and their errors are what has to be seen."""
    links = {f"b-{n}": 20.0 for n in range(8)}
    seen = look(reading("a-1", 0.0, links=links), *(reading(peer, 10.0) for peer in links))
    assert not seen.delays.embedding.trusted
    assert host(seen, "a-1").measured_error == pytest.approx(0.5)
    assert seen.judged.embedded_ms.tolist() == [10.0] * 8
    assert cells(seen)["ab"] == (20.0, Provenance.MEASURED, 8, 8)


@pytest.mark.parametrize(
    ("bad", "state", "fault"),
    [
        (reading("a-1", 0.0, age_s=31.0), ReadingState.STALE, "is stale"),
        (reading("a-1", 0.0, availability=2.0), ReadingState.REFUSED, "is malformed (availability"),
        (reading("a-1", 0.0, host="b-1"), ReadingState.REFUSED, "says that it is of b-1"),
        (reading("a-1", None), ReadingState.BELIEVED, "has a coordinate with too large an error"),
        (reading("a-1", 0.0, links={"b-1": -1.0}), ReadingState.BELIEVED, "holds an impossible link (to b-1"),
        (reading("a-1", 0.0, outages={"count": -1}), ReadingState.BELIEVED, "holds impossible outages.count"),
        (
            reading("a-1", 0.0, load={"cpu": 2.0, "memory": 0.1}),
            ReadingState.BELIEVED,
            "holds impossible load.cpu",
        ),
        (
            reading("a-1", 0.0, load={"cpu": 0.1, "memory": 0.1, "slots": -2}),
            ReadingState.BELIEVED,
            "holds impossible load.slots",
        ),
    ],
)
def test_what_is_wrong_with_a_reading_stands_beside_its_host(
    bad: Reading, state: ReadingState, fault: str
) -> None:
    """One phrase that begins without the name; other hosts have none."""
    seen = look(bad, reading("b-1", 0.0))
    assert host(seen, "a-1").state is state
    assert [each.startswith(fault) for each in host(seen, "a-1").faults] == [True]
    assert host(seen, "b-1").faults == ()


def test_an_impossible_figure_that_decides_nothing_costs_only_its_table() -> None:
    """Outages are left out, load is shown."""
    seen = host(look(reading("a-1", 0.0, outages={"count": 1.0, "last_s": "long"})), "a-1")
    assert seen.outages is None
    assert (seen.load["cpu"], seen.load.get("slots")) == (0.1, None)


def test_contradicting_links_stand_beside_both_hosts() -> None:
    """Each names the other."""
    seen = look(reading("a-1", 0.0, links={"b-1": 10.0}), reading("b-1", 10.0, links={"a-1": 90.0}))
    assert seen.contradictions == (("a-1", "b-1"),)
    assert host(seen, "a-1").faults == ("contradicts b-1",)
    assert host(seen, "b-1").faults == ("contradicts a-1",)


def test_of_many_contradicting_links_their_number_stands_beside_the_host() -> None:
    """A host that contradicts all others would fill a page with their names."""
    others = ("b-1", "b-2", "b-3", "b-4")
    seen = look(
        reading("a-1", 0.0, links=dict.fromkeys(others, 10.0)),
        *(reading(name, 10.0, links={"a-1": 90.0}) for name in others),
    )
    assert len(seen.contradictions) == 4
    assert host(seen, "a-1").faults == ("contradicts 4 hosts",)


def test_hosts_without_agent_are_known_only_with_the_supervisors() -> None:
    """None is not the same as none."""
    agents = (reading("a-1", 0.0), reading("b-1", 0.0, age_s=99.0))
    unknown = look(*agents)
    assert (unknown.without_agent, unknown.without_supervisor) == (None, None)
    known = look(*agents, supervisors=("a-1", "c-1"))
    assert (known.without_agent, known.without_supervisor) == (("c-1",), ("b-1",))
    assert host(known, "c-1").state is ReadingState.ABSENT
    assert host(known, "c-1").faults == ("has no agent",)


def test_an_agent_without_supervisor_judges_no_host() -> None:
    """b-1 is no host of the cluster: by the nine pairs with it all coordinates would be given up."""
    peers = [f"a-{n}" for n in range(9)]
    agents = [reading(peer, float(n), links={"b-1": 90.0}) for n, peer in enumerate(peers)]
    stranger = reading("b-1", 20.0, links={"a-0": -1.0})
    everybody = look(*agents, stranger)
    assert not everybody.delays.embedding.trusted
    assert everybody.strangers is None
    known = look(*agents, stranger, supervisors=tuple(peers))
    assert known.delays.embedding.trusted
    assert ([each.name for each in known.hosts], known.sites) == (peers, ("a",))
    assert [cell.all_pairs for cell in known.cells] == [36]
    (apart,) = known.strangers
    assert (apart.name, apart.site, apart.state, apart.coordinate) == (
        "b-1",
        "b",
        ReadingState.BELIEVED,
        None,
    )
    assert [fault.split(" (")[0] for fault in apart.faults] == ["holds an impossible link"]


def test_two_readings_of_one_host_are_a_fault_and_the_first_counts() -> None:
    """As for the planner."""
    seen = look(reading("a-1", 0.0, error=0.2), reading("a-1", 0.0, error=0.3))
    assert host(seen, "a-1").error == 0.2
    assert host(seen, "a-1").faults == ("occurs twice",)


def test_the_worst_hosts_have_no_believed_reading_then_faults_then_large_errors() -> None:
    """Names decide last."""
    seen = look(
        reading("a-1", 0.0),
        reading("b-1", 0.0, error=0.4),
        reading("c-1", 0.0, outages=3),
        reading("d-1", 0.0, age_s=50.0),
        reading("e-1", 0.0),
    )
    assert [each.name for each in worst_first(seen.hosts)] == ["d-1", "c-1", "b-1", "a-1", "e-1"]
