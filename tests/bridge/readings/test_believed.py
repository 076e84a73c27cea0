"""A reading is believed, or its absence has a stated reason."""

from __future__ import annotations

import zlib
from dataclasses import replace

import pytest

from bridge.readings.believed import LEAST_AVAILABILITY, read_nodes
from bridge.readings.payload_faults import PayloadFault
from bridge.settings import ReadingsSettings
from formats.packed_content import MAX_UNPACKED_BYTES

HOST = "uniroma2-1"


def read(make, *readings, live=True):
    request = replace(make.cluster(), readings=readings, readings_live=live)
    return read_nodes(request, {HOST, "uniroma2-2"}, ReadingsSettings())


def test_a_fresh_reading_is_believed(make):
    """Site, coordinate and availability arrive as published."""
    readings = read(make, make.reading(HOST, "rome", 5.0, availability=0.9))
    node = readings.by_host[HOST]
    assert (node.site, node.availability, readings.faults) == ("rome", 0.9, ())
    assert (node.coordinate.position_ms, node.coordinate.height_ms) == ((5.0, 0.0, 0.0), 0.1)


@pytest.mark.parametrize(
    ("age_ms", "lifetime_s", "stale"),
    [
        (30_000, 30.0, False),
        (30_001, 30.0, True),
        (5_001, 5.0, True),
        (30_001, None, True),
        (29_000, None, False),
    ],
)
def test_a_reading_older_than_its_lifetime_is_missing(make, age_ms, lifetime_s, stale):
    """The stated lifetime counts, else the one of the settings (30 s)."""
    readings = read(make, make.reading(HOST, None, 0.0, age_ms=age_ms, lifetime_s=lifetime_s))
    assert readings.stale == ((HOST,) if stale else ())
    assert (HOST in readings.by_host) is not stale


def test_an_uncertain_coordinate_is_not_used(make):
    """Above the largest error the host keeps its site and availability but has no coordinate."""
    readings = read(make, make.reading(HOST, "rome", 0.0, error=0.61))
    assert readings.uncertain == (HOST,)
    assert readings.by_host[HOST].coordinate is None
    assert readings.by_host[HOST].site == "rome"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"version": 2}, "version"),
        ({"coordinate": [1.0, "2"]}, "coordinate.1"),
        ({"coordinate": []}, "coordinate"),
        ({"coordinate": [0.0, 1e16]}, "coordinate.1"),
        ({"coordinate": [-60_001.0]}, "coordinate.0"),
        ({"height": 1e16}, "height"),
        ({"height": -1.0}, "height"),
        ({"availability": 1.5}, "availability"),
        ({"host": "other"}, "says that it is of other"),
    ],
)
def test_a_malformed_reading_is_a_fault(make, changes, message):
    """It is not believed, and the fault names the host and the field."""
    readings = read(make, make.reading(HOST, None, 0.0, **changes))
    assert readings.by_host == {}
    assert len(readings.faults) == 1
    assert HOST in readings.faults[0]
    assert message in readings.faults[0]


@pytest.mark.parametrize(
    "changes",
    [
        {"load": {"cpu": 2.0, "memory": 0.0}},
        {"load": {"cpu": float("nan"), "memory": -1.0}},
        {"load": "heavy"},
        {"outages": {"count": -1}},
        {"outages": {"count": -1}, "links": None},
        {"workers": [{"port": 6700, "topology": "t", "percent": -1.0}]},
        {"workers": {"6700": 10.0}},
    ],
)
def test_an_impossible_figure_costs_itself_alone(make, changes):
    """Load and outages decide nothing; without a worker's time what is declared counts."""
    readings = read(make, make.reading(HOST, None, 5.0, **changes))
    assert readings.by_host[HOST].coordinate.position_ms == (5.0, 0.0, 0.0)
    assert readings.by_host[HOST].workers == {}
    assert readings.faults == ()


def test_a_refused_reading_names_what_costs_it(make):
    """Not what alone would be left out, though it stands before it and is of another kind."""
    changes = {"load": {"cpu": "x", "memory": 0.0}, "links": [], "availability": 1.5, "error": -1.0}
    readings = read(make, make.reading(HOST, None, 0.0, **changes))
    assert readings.faults == (
        f"reading of {HOST} is malformed (error: Input should be greater than or equal to 0)",
    )
    assert readings.refused == {PayloadFault.IMPOSSIBLE: 1}


@pytest.mark.parametrize("payload", [b"", b"{", b"\xff", b"[" * 10_000, b"null"])
def test_bytes_that_are_no_reading_are_a_fault(make, payload):
    """Whatever the znode holds, the others are read."""
    bad = replace(make.reading("uniroma2-2", None, 0.0), payload=payload)
    readings = read(make, bad, make.reading(HOST, None, 0.0))
    assert list(readings.by_host) == [HOST]
    assert len(readings.faults) == 1


def test_a_packed_reading_is_read_as_its_text_is(make):
    """An older shim passes on what the znode holds."""
    plain = make.reading(HOST, "rome", 5.0, links={"b": None})
    packed = replace(plain, payload=zlib.compress(plain.payload))
    assert read(make, packed) == read(make, plain)


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        (zlib.compress(b"{}")[:-1], "packed content ends too early"),
        (b"xyz", "packed content is damaged"),
        (zlib.compress(b"[" * (MAX_UNPACKED_BYTES + 1)), "packed content stands for more than 4194304 bytes"),
        (zlib.compress(b"nonsense"), "not JSON"),
    ],
)
def test_a_reading_that_cannot_be_unpacked_costs_itself_and_is_named(make, payload, reason):
    """As one that is no JSON."""
    bad = replace(make.reading("uniroma2-2", None, 0.0), payload=payload)
    readings = read(make, bad, make.reading(HOST, None, 0.0))
    assert list(readings.by_host) == [HOST]
    assert readings.faults == (f"reading of uniroma2-2 is malformed ({reason})",)
    assert readings.refused == {PayloadFault.MALFORMED: 1}


def test_a_second_reading_of_a_host_is_a_fault(make):
    """The first one stands."""
    readings = read(make, make.reading(HOST, "a", 0.0), make.reading(HOST, "b", 0.0))
    assert readings.by_host[HOST].site == "a"
    assert readings.faults == (f"reading of {HOST} occurs twice",)


def test_a_second_reading_is_a_fault_after_a_stale_one_too(make):
    """The host's reading is missing: which of two readings of one host is its own is not known."""
    readings = read(make, make.reading(HOST, "a", 0.0, age_ms=60_000), make.reading(HOST, "b", 0.0))
    assert (readings.by_host, readings.stale, readings.stale_sites) == ({}, (HOST,), {HOST: "a"})
    assert readings.faults == (f"reading of {HOST} occurs twice",)


def test_readings_of_strangers_are_left_aside(make):
    """An agent on a host without supervisor is no fault."""
    readings = read(make, make.reading("elsewhere", None, 0.0))
    assert (readings.by_host, readings.faults) == ({}, ())


def test_an_availability_of_zero_is_nearly_never(make):
    """The model works with logarithms."""
    assert (
        read(make, make.reading(HOST, None, 0.0, availability=0.0)).by_host[HOST].availability
        == LEAST_AVAILABILITY
    )
