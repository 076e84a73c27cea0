"""Rules of partners: who exchanges tuples with this host."""

from __future__ import annotations

import json
from typing import Any

import pytest

from monitoring.partners import busiest, host_pairs


def test_partners_are_the_busiest_over_all_topologies() -> None:
    pairs = [("a", "b", 1.0), ("a", "c", 2.0), ("d", "a", 3.0), ("b", "a", 4.0), ("b", "c", 99.0)]
    assert busiest("a", pairs) == ("b", "d", "c")


def test_no_more_than_eight_are_named_and_ties_are_broken_by_name() -> None:
    pairs = [("a", f"p{number:02d}", 1.0) for number in range(20)]
    assert busiest("a", pairs) == tuple(f"p{number:02d}" for number in range(8))


def test_a_host_is_not_its_own_partner() -> None:
    assert busiest("a", [("a", "a", 5.0)]) == ()


def test_a_reading_of_rates_without_pairs_names_nobody() -> None:
    assert host_pairs(b'{"version": 1, "streams": []}') == []


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"{", "not JSON"),
        (None, "not JSON: no content"),
        pytest.param(b"[" * 100_000, "not JSON of a sensible depth", id="deep"),
        pytest.param(
            b'{"version": ' + b"[" * 500 + b"]" * 500 + b"}", "version a list instead of 1", id="version"
        ),
        (b"[]", "not a JSON object"),
        (b"{}", "version None"),
        (b'{"version": 2, "host_pairs": []}', "version 2 instead of 1"),
        (b'{"version": 1, "host_pairs": {}}', "not a list"),
    ],
)
def test_what_is_no_reading_of_rates_is_refused_with_the_reason(content: bytes | None, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        host_pairs(content)


@pytest.mark.parametrize(
    "pair",
    [
        ["a", "b"],
        ["a", 5, 1.0],
        ["a", "b", "1"],
        ["a", "b", True],
        ["a", "b", -1.0],
        ["a", "b", float("nan")],
        ["a", "b", 10**400],
        "ab1",
    ],
)
def test_an_impossible_pair_is_named_by_its_place(pair: Any) -> None:
    content = json.dumps({"version": 1, "host_pairs": [["a", "b", 1.0], pair]}).encode()
    with pytest.raises(ValueError, match=r"host_pairs\[1\]"):
        host_pairs(content)
