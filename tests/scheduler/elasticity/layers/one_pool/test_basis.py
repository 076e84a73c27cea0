"""What managers are made from: fixed once all is known, and only then."""

from __future__ import annotations

import pytest

from scheduler.elasticity.layers.one_pool.basis import Basis, PartBasis, kept_or_new
from scheduler.elasticity.leasing.component import Component
from scheduler.elasticity.leasing.observation import ComponentReading

COMPONENTS = tuple(Component(f"t/{name}", 100, 1, 1, 1, 4, 4) for name in "abc")
STATED = {"response_max_ms": 100.0, "rate_max": None, "operator": {}}
BASIS = Basis((PartBasis("t/b", 4.0, 1.0), PartBasis("t/a", 8.0, 0.5)), STATED)


def read(
    component: str, demand_per_s: float | None, service_ms: float | None
) -> tuple[str, ComponentReading]:
    name = f"t/{component}"
    reading = ComponentReading(name, (), 0.0, demand_per_s=demand_per_s, service_ms=service_ms)
    return name, reading


ALL = dict([read("a", 10.0, 8.0), read("b", 20.0, 4.0), read("c", 0.0, None)])


def basis_of(
    readings: dict[str, ComponentReading], basis: Basis | None = None, now_s: float = 0.0
) -> tuple[Basis | None, str]:
    return kept_or_new(basis, COMPONENTS, readings, STATED, now_s)


def test_the_component_to_which_most_comes_is_the_first_and_those_without_items_are_none() -> None:
    assert basis_of(ALL) == (BASIS, "")


@pytest.mark.parametrize(
    ("readings", "why"),
    [
        ({}, "there is no reading of t/a"),
        (ALL | dict([read("a", None, 8.0)]), "how much comes to t/a is not known"),
        (
            ALL | dict([read("b", 1.0, None)]),
            "how long an item takes at t/b is not known: state service_ms, or wait",
        ),
        ({name: read(name[2:], 0.0, 4.0)[1] for name in ALL}, ""),
    ],
)
def test_what_is_unknown_is_named_and_what_was_known_stays(
    readings: dict[str, ComponentReading], why: str
) -> None:
    assert basis_of(readings) == (None, why)
    assert basis_of(readings, BASIS, 9.0) == (BASIS, "")


def test_small_differences_change_nothing() -> None:
    near = ALL | dict([read("a", 11.0, 9.0), read("b", 20.0, 3.5)])
    assert basis_of(near, BASIS, 1e6) == (BASIS, "")


@pytest.mark.parametrize(
    "far",
    [read("a", 10.0, 12.0), read("b", 20.0, 3.0), read("a", 30.0, 8.0), read("c", 5.0, 1.0)],
)
def test_large_ones_count_after_ten_minutes_without_a_break(far: tuple[str, ComponentReading]) -> None:
    """A service time, a share, or a component to which nothing came before."""
    readings = ALL | dict([far])
    basis, _ = basis_of(readings, BASIS, 1000.0)
    assert basis is not None
    assert (basis.parts, basis.off_since_s) == (BASIS.parts, 1000.0)
    assert basis_of(ALL, basis, 1500.0) == (BASIS, "")
    still, _ = basis_of(readings, basis, 1599.0)
    assert still == basis
    new, _ = basis_of(readings, basis, 1600.0)
    assert new is not None
    assert new.parts != BASIS.parts
    assert new.parts[0].component == "t/b", "what comes first stays the first"
    assert new.off_since_s is None


def test_a_clock_that_was_set_back_begins_the_ten_minutes_anew() -> None:
    readings = ALL | dict([read("a", 10.0, 12.0)])
    basis, _ = basis_of(readings, BASIS, 1000.0)
    earlier, _ = basis_of(readings, basis, 10.0)
    assert earlier is not None
    assert earlier.off_since_s == 10.0


def test_other_settings_and_other_components_count_at_once() -> None:
    other = {**STATED, "response_max_ms": 50.0}
    basis, _ = kept_or_new(BASIS, COMPONENTS, ALL, other, 0.0)
    assert basis == Basis(BASIS.parts, other)
    basis, _ = kept_or_new(BASIS, COMPONENTS[1:], ALL, STATED, 0.0)
    assert basis is not None
    assert [each.component for each in basis.parts] == ["t/b"]
