"""Which of several offers that are alike is leased, and how many hosts of them."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from provisioning.loop.offers import alike, leased_most, to_lease
from provisioning.settings import Limits
from tests.provisioning.loop.world import OFFER

NORTH, SOUTH = replace(OFFER, name="north", unit_cost=1.0), replace(OFFER, name="south", unit_cost=2.0)
BOTH = (NORTH, SOUTH)


@pytest.mark.parametrize(
    ("leased", "lost_s", "name"),
    [
        pytest.param({}, {}, "north", id="the first"),
        pytest.param({"north": 1}, {}, "north", id="room"),
        pytest.param({"north": 2}, {}, "south", id="full"),
        pytest.param({"north": 2, "south": 9}, {}, "south", id="no limit"),
        pytest.param({}, {"north": 9000.0}, "south", id="lost lately"),
        pytest.param({}, {"north": 8000.0}, "north", id="lost long ago"),
        pytest.param({}, {"north": 9000.0, "south": 9500.0}, "north", id="both lost"),
        pytest.param({}, {"north": 9500.0, "south": 9000.0}, "south", id="both lost, the other earlier"),
        pytest.param({"north": 2}, {"south": 9000.0}, "south", id="no other"),
        pytest.param({}, {"north": 10_001.0}, "north", id="a clock that was set back"),
    ],
)
def test_the_first_one_that_has_some(leased: dict[str, int], lost_s: dict[str, float], name: str) -> None:
    found = to_lease(BOTH, leased, Limits(hosts_max_of={"north": 2}), lost_s, 10_000.0)
    assert found is not None
    assert found.name == name


def test_none_is_left() -> None:
    assert (
        to_lease(BOTH, {"north": 2, "south": 3}, Limits(hosts_max_of={"north": 2, "south": 3}), {}, 0.0)
        is None
    )


def test_how_many_may_be_leased() -> None:
    """A budget is counted at the dearest price: two for ten minutes."""
    assert leased_most(BOTH, {"north": 2}, None) == math.inf
    assert leased_most(BOTH, {"north": 2, "south": 3}, None) == 5
    assert leased_most(BOTH, {"north": 2, "south": 3}, 24.0) == 2
    assert leased_most(BOTH, {}, 24.0) == 2
    assert leased_most((replace(NORTH, unit_cost=0.0),), {}, 24.0) == math.inf


def test_hosts_take_each_others_place() -> None:
    assert alike(()) == ""
    assert alike((NORTH, replace(SOUTH, cpu=NORTH.cpu + 1.0))) == ""
    for other in (replace(SOUTH, slots=3), replace(SOUTH, billing_unit_s=60.0)):
        assert alike((NORTH, other)) == "hosts of south need the slots and the billing unit of those of north"
    for other in (replace(SOUTH, cpu=1.0), replace(SOUTH, memory_mb=1.0)):
        assert alike((NORTH, other)) == "hosts of south have less CPU or memory than those of north"
