"""Direct links: of two directions one value per pair, and only what is fresh and possible."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bridge.network.cluster import Host
from bridge.network.links import NO_LINKS, gather_links
from bridge.readings.believed import NodeReading, Readings, read_nodes
from bridge.readings.node_payload import parse_node
from bridge.settings import ReadingsSettings


def link(delay_ms, age_s=1.0, **more):
    return {"delay_ms": delay_ms, "age_s": age_s, **more}


def gather(age_s=0.0, **links):
    """Hosts a, b and c; links by source and target."""
    by_host = {
        name: NodeReading(name, None, None, 1.0, links=published, age_s=age_s)
        for name, published in links.items()
    }
    hosts = [Host(name, None, (index,), True, {}) for index, name in enumerate("abc")]
    return gather_links(hosts, Readings(by_host, (), (), (), live=True), lifetime_s=60.0)


def delays(links):
    pairs = links.delays
    return dict(zip(zip(pairs.low.tolist(), pairs.high.tolist(), strict=True), pairs.value, strict=True))


def test_a_link_of_either_direction_gives_the_pair_its_delay():
    """b measured a and c: two pairs."""
    assert delays(gather(b={"a": link(3.0), "c": link(4.0)})) == {(0, 1): 3.0, (1, 2): 4.0}


@pytest.mark.parametrize(
    ("age_a", "age_b", "delay_ms"), [(1.0, 2.0, 10.0), (2.0, 1.0, 11.0), (1.0, 1.0, 10.0)]
)
def test_the_fresher_direction_counts(age_a, age_b, delay_ms):
    """At the same age the first host's."""
    links = gather(a={"b": link(10.0, age_a)}, b={"a": link(11.0, age_b)})
    assert delays(links) == {(0, 1): delay_ms}


@pytest.mark.parametrize(("link_age_s", "reading_age_s", "fresh"), [(50.0, 10.0, True), (50.0, 10.1, False)])
def test_a_link_is_as_old_as_it_was_when_published_and_the_reading_since(link_age_s, reading_age_s, fresh):
    """60 s is the limit here."""
    links = gather(a={"b": link(10.0, link_age_s)}, age_s=reading_age_s)
    assert delays(links) == ({(0, 1): 10.0} if fresh else {})


def test_links_to_strangers_and_to_oneself_are_left_aside():
    """Neither is a pair of hosts of the cluster."""
    assert delays(gather(a={"a": link(1.0), "elsewhere": link(1.0)})) == {}


@pytest.mark.parametrize(
    ("one", "other", "contradict"),
    [(20.0, 30.0, True), (20.0, 28.0, False), (1.0, 5.0, False), (100.0, 104.0, False), (0.0, 5.1, True)],
)
def test_directions_contradict_each_other_by_share_and_by_ms(one, other, contradict):
    """More than 30 % of the greater and more than 5 ms."""
    links = gather(a={"b": link(one)}, b={"a": link(other)})
    assert links.contradictions == ((("a", "b"),) if contradict else ())


def test_a_stale_direction_contradicts_nothing():
    """What is not believed cannot disagree."""
    assert gather(a={"b": link(1.0)}, b={"a": link(90.0, 61.0)}).contradictions == ()


def test_the_lower_availability_of_two_directions_counts_at_any_age():
    """A link that stopped answering is old, and just that makes it less available."""
    links = gather(
        a={"b": link(1.0, availability=0.99), "c": link(1.0)}, b={"a": link(1.0, 100.0, availability=0.5)}
    )
    assert (links.availability.low.tolist(), links.availability.high.tolist()) == ([0], [1])
    assert links.availability.value.tolist() == [0.5]


def test_the_lower_bandwidth_of_two_directions_counts_at_any_age():
    """Pairs without a measured direction have none, as in readings of agents that do not measure."""
    links = gather(
        a={"b": link(1.0, bandwidth_bytes_per_s=2e6), "c": link(1.0)},
        b={"a": link(1.0, 100.0, bandwidth_bytes_per_s=1e6), "c": link(1.0)},
        c={"b": link(1.0, bandwidth_bytes_per_s=3e6)},
    )
    pairs = links.bandwidth
    found = dict(zip(zip(pairs.low.tolist(), pairs.high.tolist(), strict=True), pairs.value, strict=True))
    assert found == {(0, 1): 1e6, (1, 2): 3e6}
    assert NO_LINKS.bandwidth.value.tolist() == []


IMPOSSIBLE = {
    "negative": link(-1.0),
    "endless": link(float("inf")),
    "no number": link(float("nan")),
    "too far": link(60_001.0),
    "text": link("3"),
    "from the future": link(1.0, -0.1),
    "too certain": link(1.0, availability=1.1),
    "without age": {"delay_ms": 1.0},
    "closed": link(1.0, bandwidth_bytes_per_s=0.0),
    "endless bandwidth": link(1.0, bandwidth_bytes_per_s=float("inf")),
    "bandwidth in words": link(1.0, bandwidth_bytes_per_s="1 Mbit/s"),
    "bandwidth of the future": link(1.0, bandwidth_bytes_per_s=1e6, bandwidth_age_s=-1.0),
    "nothing": None,
}


@pytest.mark.parametrize("bad", IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_an_impossible_link_costs_that_link_alone(make, bad):
    """The reading and its other links stand, and the fault names host and peer once, without figures."""
    good = link(2.0, samples=5, loss=0.0, bandwidth_bytes_per_s=125_000.0, bandwidth_age_s=3.0)
    published = make.reading("a", None, 5.0, links={"b": bad, "c": good})
    request = replace(make.cluster(), readings=(published,))
    readings = read_nodes(request, {"a"}, ReadingsSettings())
    assert readings.by_host["a"].links == {"c": good}
    (fault,) = readings.faults
    assert fault.startswith("reading of a holds an impossible link (to b:")
    assert readings.impossible_links == 1


def test_links_that_are_no_object_cost_all_links(make):
    """The rest of the reading stands."""
    parsed = parse_node(make.reading("a", None, 5.0, links=[1, 2]).payload)
    assert "links" not in parsed.fields
    assert len(parsed.bad_links) == 1


def test_a_reading_that_is_impossible_itself_is_refused_whatever_its_links_are(make):
    """A bad link does not hide a bad height."""
    with pytest.raises(ValueError, match="height"):
        parse_node(make.reading("a", None, 5.0, height=-1.0, links={"b": None}).payload)


def test_links_of_many_hosts_are_put_together_in_the_order_of_the_round():
    """Indices are those of the hosts, whatever the order in which peers are named."""
    names = [f"h{index}" for index in range(50)]
    by_host = {
        name: NodeReading(
            name, None, None, 1.0, links={names[(i * 7 + k) % 50]: link(float(i)) for k in (3, 1, 2)}
        )
        for i, name in enumerate(names)
    }
    hosts = [Host(name, None, (index,), True, {}) for index, name in enumerate(names)]
    links = gather_links(hosts, Readings(by_host, (), (), (), live=True), 60.0)
    pairs = links.delays
    assert (pairs.low < pairs.high).all()
    assert len({*zip(pairs.low.tolist(), pairs.high.tolist(), strict=True)}) == len(pairs.value)
    matrix = np.full((50, 50), np.nan)
    pairs.write_to(matrix)
    for i, name in enumerate(names):
        for peer in by_host[name].links:
            if peer != name:
                assert matrix[i, names.index(peer)] in (float(i), float(names.index(peer)))


def test_readings_without_links_have_none(make):
    """Agents of an earlier version publish none."""
    parsed = parse_node(make.reading("a", None, 5.0).payload)
    assert parsed.fields.get("links") is None
    assert parsed.bad_links == ()
    assert delays(gather()) == {}
