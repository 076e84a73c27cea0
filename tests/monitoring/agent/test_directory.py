"""Rules of the list of peers."""

from __future__ import annotations

import pytest

from monitoring.agent.directory import PeerDirectory
from monitoring.reading import Address

A, B, B2 = Address("10.0.0.1", 1), Address("10.0.0.2", 2), Address("10.0.0.3", 3)


def update(directory: PeerDirectory, now_s: float, addresses: dict[str, Address]) -> None:
    directory.update(now_s, frozenset(addresses), addresses)


def test_a_peer_that_is_listed_without_address_is_passed_on_at_once() -> None:
    directory = PeerDirectory()
    update(directory, 0.0, {"a": A, "b": B})
    assert directory.update(10.0, frozenset("ab"), {"a": A}) == ("b",)
    assert directory.names() == ("a",)
    assert directory.missing() == ()


def test_an_unlisted__peer_lingers_and_is_then_forgotten_once() -> None:
    directory = PeerDirectory()
    update(directory, 0.0, {"a": A, "b": B})
    update(directory, 10.0, {"a": A})
    update(directory, 20.0, {"a": A})  # does not start the time anew
    assert directory.missing() == ("b",)
    assert directory.expire(39.9) == ()
    assert set(directory.names()) == {"a", "b"}
    assert directory.expire(40.0) == ("b",)
    assert directory.expire(41.0) == ()
    assert directory.names() == ("a",)
    assert "b" not in directory


def test_a_peer_that_comes_back_in_time_stays_with_its_new_address() -> None:
    directory = PeerDirectory()
    update(directory, 0.0, {"b": B})
    update(directory, 10.0, {})
    update(directory, 20.0, {"b": B2})
    assert directory.expire(100.0) == ()
    assert directory.address("b") == B2


def test_asking_for_an_unknown_peer_is_an_error() -> None:
    with pytest.raises(KeyError):
        PeerDirectory().address("a")
