"""Which requests for hosts are granted."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.elasticity.infrastructure_manager.granting import (
    AskedHosts,
    InfrastructureObservation,
    InfrastructureParameters,
    InfrastructureState,
    decide,
)
from scheduler.elasticity.region_manager.report import RegionRequest


def asked(region: str, action: int, active: int = 2, price: float = 1.0) -> AskedHosts:
    return AskedHosts(RegionRequest(region, action, "asked" if action else "kept", ""), active, price)


def decided(*regions: AskedHosts, **changed: Any) -> list[tuple[str, int, str]]:
    observation = InfrastructureObservation(regions)
    grants, _ = decide(observation, InfrastructureState(), InfrastructureParameters(**changed), seed=0)
    return [(each.region, each.action, each.status) for each in grants]


def test_without_limits_all_are_granted_as_the_paper_has_it() -> None:
    """Hosts that go first, then by price, then by name."""
    regions = (
        asked("dear", 1, price=2),
        asked("b", 1),
        asked("a", 1),
        asked("full", -2, price=9),
        asked("still", 0),
    )
    assert decided(*regions) == [
        ("full", -2, "granted"),
        ("a", 1, "granted"),
        ("b", 1, "granted"),
        ("dear", 1, "granted"),
    ]


def test_the_budget_counts_hosts_that_are_there_and_those_that_go() -> None:
    regions = (asked("a", 1, active=3), asked("b", -1, active=2), asked("c", 0, active=4))
    assert decided(*regions, budget_per_hour=9) == [("b", -1, "granted"), ("a", 1, "granted")]
    assert decided(*regions, budget_per_hour=8.9) == [("b", -1, "granted"), ("a", 0, "budget")]


def test_the_cheapest_fit_into_a_budget() -> None:
    regions = (asked("a", 1, price=3), asked("b", 1, price=1))
    assert decided(*regions, budget_per_hour=10) == [("b", 1, "granted"), ("a", 0, "budget")]


def test_few_hosts_are_started_at_once() -> None:
    regions = (asked("a", 1), asked("b", 1), asked("c", -3))
    assert decided(*regions, acquisitions_max=1) == [
        ("c", -3, "granted"),
        ("a", 1, "granted"),
        ("b", 0, "too-many"),
    ]


@given(
    st.lists(
        st.builds(asked, st.sampled_from("abcdefgh"), st.integers(-2, 1), st.integers(2, 5), st.floats(0, 5)),
        unique_by=lambda each: each.request.region,
    ),
    st.floats(0, 60),
)
def test_a_budget_is_kept_and_what_goes_always_goes(regions: list[AskedHosts], budget: float) -> None:
    """A budget that is exceeded already buys nothing more."""
    grants = {region: action for region, action, _ in decided(*regions, budget_per_hour=budget)}
    now = sum(each.active * each.price_per_hour for each in regions)
    after = now + sum(grants.get(each.request.region, 0) * each.price_per_hour for each in regions)
    assert after <= max(budget, now) + 1e-6
    assert all(
        grants[each.request.region] == each.request.action for each in regions if each.request.action < 0
    )


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: decided(asked("a", 1), asked("a", 0)), r'regions\[1\].request.region: "a" is there twice'),
        (lambda: asked("a", 1, active=-1), "active: expected a whole number >= 0, got -1"),
        (lambda: asked("a", 1, price=-1), "price_per_hour: expected a number >= 0, got -1"),
        (lambda: decided(budget_per_hour=-1), "budget_per_hour: expected a number >= 0, got -1"),
        (lambda: decided(acquisitions_max=0), "acquisitions_max: expected a whole number >= 1, got 0"),
    ],
)
def test_bad_values(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        make()
