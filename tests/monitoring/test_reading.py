"""Rules of the published JSON."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest

from monitoring.coordinate import Coordinate
from monitoring.reading import (
    Address,
    Bandwidth,
    Link,
    Load,
    Outages,
    Reading,
    WorkerCpu,
    parse_address,
    probe_address,
    site_of,
    to_json,
)

READING = Reading(
    time_s=1700000000.1234,
    sequence=3,
    lifetime_s=30.0,
    host="uniroma2-1",
    site="uniroma2",
    coordinate=Coordinate((1.0, -2.5, 3.123456), 0.25, 0.1),
    availability=0.999,
    outages=Outages(2.12345, 61.23),
    load=Load(0.5, 0.25, 0.123456, 2, 4),
    links={"us-1": Link(119.98765, 3.14159, 61.23456, 5, 0.123456, 0.99912345)},
    probe=Address("10.1.0.2", 7091),
    workers=(WorkerCpu(6700, "taxi-1-1700000000", 31.6),),
    tier="cloud",
)


def test_a_reading_has_exactly_the_agreed_keys() -> None:
    assert json.loads(to_json(READING)) == {
        "version": 1,
        "time": 1700000000.123,
        "sequence": 3,
        "lifetime_s": 30.0,
        "host": "uniroma2-1",
        "site": "uniroma2",
        "tier": "cloud",
        "coordinate": [1.0, -2.5, 3.1235],
        "height": 0.25,
        "error": 0.1,
        "availability": 0.999,
        "outages": {"count": 2.123, "last_s": 61.2},
        "load": {"cpu": 0.5, "memory": 0.25, "run_queue": 0.123, "slots_used": 2, "slots": 4},
        "links": {
            "us-1": {
                "delay_ms": 119.988,
                "age_s": 3.1,
                "delay_age_s": 61.2,
                "samples": 5,
                "loss": 0.1235,
                "availability": 0.999123,
            }
        },
        "probe": "10.1.0.2:7091",
        "workers": [{"port": 6700, "topology": "taxi-1-1700000000", "percent": 31.6}],
    }


def test_processes_of_a_worker_are_there_where_it_started_some() -> None:
    one = replace(READING.workers[0], children={"0123456789abcdef": 12.345})
    (worker,) = json.loads(to_json(replace(READING, workers=(one,))))["workers"]
    assert worker["children"] == {"0123456789abcdef": 12.3}


def test_what_is_not_known_is_null() -> None:
    bare = replace(
        READING, site=None, tier=None, outages=Outages(0.0, None), load=Load(0.0, 0.0, 0.0, None, None)
    )
    content = json.loads(to_json(bare))
    assert (content["site"], content["tier"]) == (None, None)
    assert content["outages"] == {"count": 0.0, "last_s": None}
    assert (content["load"]["slots_used"], content["load"]["slots"]) == (None, None)


def test_a_reading_with_as_many_links_as_there_may_be_stays_small() -> None:
    link = Link(119.98765, 119.94, 119.94, 5, 0.123456, 0.99912345)
    full = replace(READING, links={f"europe-north1-{n}": link for n in range(32)})
    assert len(to_json(full)) < 4096
    assert "delay_age_s" not in json.loads(to_json(full))["links"]["europe-north1-0"]


def test_a_reading_stays_small_even_while_all_delays_are_older_than_answers() -> None:
    link = Link(119.98765, 119.94, 120.94, 5, 0.123456, 0.99912345)
    full = replace(READING, links={f"europe-north1-{n}": link for n in range(32)})
    assert len(to_json(full)) < 4500


def test_a_bandwidth_is_there_where_it_is_measured() -> None:
    """In whole bytes per second, with its age; without it the link has the keys it always had."""
    one = READING.links["us-1"]
    bare, measured = (
        json.loads(to_json(replace(READING, links={"us-1": replace(one, bandwidth=bandwidth)})))
        for bandwidth in (None, Bandwidth(124_987.6, 12.34))
    )
    more = {"bandwidth_bytes_per_s": 124_988.0, "bandwidth_age_s": 12.3}
    assert measured["links"]["us-1"] == bare["links"]["us-1"] | more


@pytest.mark.parametrize(
    ("content", "site"),
    [(b'{"site": "fog"}', "fog"), (b'{"site": null}', None), (b"{}", None), (b'{"site": ""}', None)],
)
def test_a_peer_finds_the_site_in_a_reading(content: bytes, site: str | None) -> None:
    assert site_of(content) == site


def test_a_number_that_is_not_finite_is_never_published() -> None:
    with pytest.raises(ValueError, match="JSON"):
        to_json(replace(READING, availability=math.nan))


def test_a_peer_finds_the_probe_address_in_a_reading() -> None:
    assert probe_address(to_json(READING)) == READING.probe


def test_a_loopback_address_is_possible_where_this_host_publishes_one_too() -> None:
    content = b'{"version": 1, "probe": "127.0.0.1:7091"}'
    assert probe_address(content, loopback=True) == Address("127.0.0.1", 7091)


@pytest.mark.parametrize("address", [Address("10.0.0.1", 1), Address("2001:db8::1", 65535)])
def test_an_address_survives_its_text(address: Address) -> None:
    assert parse_address(str(address)) == address


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "not JSON"),
        (None, "not JSON: no content"),
        pytest.param(b"[" * 100_000, "not JSON of a sensible depth", id="deep"),
        pytest.param(
            b'{"version": 1, "probe": ' + b"[" * 500 + b"]" * 500 + b"}", "a list is not text", id="list"
        ),
        pytest.param(b'{"version": 1, "probe": "' + b"x" * 5000 + b'"}', r"x\.\.\. is no numeric", id="long"),
        (b"\xff", "not JSON"),
        (b"[1]", "not a JSON object"),
        (b"{}", "version None instead of 1"),
        (b'{"version": 2, "probe": "10.0.0.1:1"}', "version 2 instead of 1"),
        (b'{"version": 1}', "is not text"),
        (b'{"version": 1, "probe": "some-name:7091"}', "no numeric IP address"),
        (b'{"version": 1, "probe": "10.0.0.1"}', "no numeric IP address"),
        (b'{"version": 1, "probe": "0.0.0.0:7091"}', "is no address of one host"),
        (b'{"version": 1, "probe": "[::]:7091"}', "is no address of one host"),
        (b'{"version": 1, "probe": "[::ffff:0.0.0.0]:7091"}', "is no address of one host"),
        (b'{"version": 1, "probe": "239.1.2.3:7091"}', "is no address of one host"),
        (b'{"version": 1, "probe": "[fe80::1%eth0]:7091"}', "names a zone"),
        (b'{"version": 1, "probe": "[fe80::1%\\u0000]:7091"}', "names a zone"),
        (b'{"version": 1, "probe": "127.0.0.1:7091"}', "is of its own host alone"),
        (b'{"version": 1, "probe": "[::1]:7091"}', "is of its own host alone"),
        (b'{"version": 1, "probe": "[::ffff:127.0.0.1]:7091"}', "is of its own host alone"),
        (b'{"version": 1, "probe": "10.0.0.1:"}', "no port"),
        (b'{"version": 1, "probe": "10.0.0.1:0"}', "no port"),
        (b'{"version": 1, "probe": "10.0.0.1:65536"}', "no port"),
        ('{"version": 1, "probe": "10.0.0.1:²"}'.encode(), "no port"),
    ],
)
def test_unreadable_content_is_refused_with_the_reason(content: bytes | None, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        probe_address(content)
