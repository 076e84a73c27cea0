"""What values settings of topologies can have, and what is said of those that they cannot."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)

from bridge.wishes.place import Place, read_place
from bridge.wishes.setting_texts import LARGEST, shown
from formats.tier import TIERS
from scheduler.model.metrics.catalogue import RANGED
from scheduler.model.metrics.link_cost import LINK_COST
from scheduler.model.metrics.placement_cost import PLACEMENT_COST

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

EVERY_COMPONENT = "*"
COSTS = (PLACEMENT_COST.name, LINK_COST.name)
"""Metrics in units of the user's choice, whose values are weighed as they are."""
_OF_EVERY_COMPONENT = frozenset({"avoid", "allow"})
_LARGEST_RATE = 1e9
_LARGEST_AMOUNT = 1e9
LARGEST_WHOLE = 2**31 - 1


def must_be(what: str) -> WrapValidator:
    """Say of a value that pydantic refuses what it must be; parts of it that have a sentence keep that."""

    def check(value: Any, inner: ValidatorFunctionWrapHandler) -> Any:
        try:
            return inner(value)
        except ValidationError as error:
            if error.errors()[0]["type"] == "value_error":
                raise
            raise ValueError(f"must be {what}, got {shown(value)}") from None

    return WrapValidator(check)


def _check_number(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < LARGEST:
        raise ValueError(f"the value must be a number, got {shown(value)}")
    return value


def check_strategy(value: Any, info: ValidationInfo[Mapping[str, Collection[str]]]) -> str:
    """Refuse what is no strategy of the registry."""
    strategies = info.context["strategies"]
    if not isinstance(value, str) or value not in strategies:
        raise ValueError(f"must be one of {', '.join(sorted(strategies))}, got {shown(value)}")
    return value


def _check_component(name: str, info: ValidationInfo[Mapping[str, Collection[str]]]) -> str:
    of_every = name == EVERY_COMPONENT and info.field_name in _OF_EVERY_COMPONENT
    if name not in info.context["components"] and not of_every:
        raise ValueError(f"the topology has no component {name!r}")
    return name


def check_metric(name: str) -> str:
    """Refuse what is no metric that topologies weigh."""
    if name not in (*RANGED, *COSTS):
        raise ValueError(f"unknown weight {name!r}, known are {', '.join((*RANGED, *COSTS))}")
    return name


def sum_to_1(weights: dict[str, float]) -> dict[str, float]:
    """Return the weights above 0; they have to sum to 1, and those of costs to stand alone."""
    total = math.fsum(weights.values())
    if not math.isclose(total, 1.0, abs_tol=1e-6):
        raise ValueError(f"weights must sum to 1, got {total:g}")
    weighed = {name for name, weight in weights.items() if weight > 0}
    if weighed & set(COSTS) and weighed - set(COSTS):
        # they are sums of the user's units, and what the others are scaled by is not known for them
        other = min(weighed - set(COSTS))
        raise ValueError(f"{' and '.join(COSTS)} can be weighed with each other only, not with {other}")
    # The objective is stricter about the sum than people who write thirds can be.
    return {name: weight / total for name, weight in weights.items() if weight > 0}


def _by_component(value: Any) -> dict[str, tuple[Any, ...]]:
    """Write places by component in full: a place or a list of them is for every component."""
    places = value if isinstance(value, dict) else {EVERY_COMPONENT: value}
    return {name: tuple(found) if isinstance(found, list) else (found,) for name, found in places.items()}


def not_nowhere(places: dict[str, tuple[Place, ...]]) -> dict[str, tuple[Place, ...]]:
    """Refuse components without any place."""
    empty = [name for name, found in places.items() if not found]
    if empty:
        raise ValueError(f"names no place for {empty[0]}")
    return places


def not_free(value: str, info: ValidationInfo[Mapping[str, Collection[str]]]) -> str:
    """Refuse to leave prices out where they are limited; fields that come before are in `info.data`."""
    limited = [
        name for name in ("budget_migration", "replan_horizon_secs") if info.data.get(name) is not None
    ]
    if value == "none" and limited:
        raise ValueError(f"none contradicts {limited[0].replace('_', '.')}: what has no price has no limit")
    return value


def read_where(value: Any) -> Place:
    """Read a place; a name alone is that of a tier, else of a site.

    Raises:
        ValueError: It is none.
    """
    if not isinstance(value, str) or ":" in value or not value:
        return read_place(value)
    return Place("tier" if value in TIERS else "site", value)


def only_site(place: Place) -> Place:
    """Refuse what is no site."""
    if place.kind != "site":
        raise ValueError(f'a place outside Storm is "site:NAME", got {str(place)!r}')
    return place


def neighbours(sets: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
    """Refuse sets that join nothing."""
    for each in sets:
        if len(set(each)) < max(len(each), 2):
            raise ValueError(f"names fewer than two different components in {shown(list(each))}")
    return sets


# By name, so that the first fault does not depend on the order in which Storm wrote the names.
Sorted = BeforeValidator(lambda value: dict(sorted(value.items())) if isinstance(value, dict) else value)
Number = BeforeValidator(_check_number)
Component = Annotated[str, AfterValidator(_check_component)]
PlaceName = Annotated[Place, BeforeValidator(read_place)]
PlacesByComponent = Annotated[dict[Component, tuple[PlaceName, ...]], Sorted, BeforeValidator(_by_component)]
Weight = Annotated[float, Field(ge=0), must_be(">= 0"), Number]
Rate = Annotated[float, Field(gt=0, le=_LARGEST_RATE), must_be(f"> 0 and <= {_LARGEST_RATE:g}"), Number]
Amount = Annotated[
    float, Field(ge=0, le=_LARGEST_AMOUNT), must_be(f">= 0 and <= {_LARGEST_AMOUNT:g}"), Number
]
AboveZero = Annotated[
    float, Field(gt=0, le=_LARGEST_AMOUNT), must_be(f"> 0 and <= {_LARGEST_AMOUNT:g}"), Number
]
Count = Annotated[
    int, Field(ge=0, le=LARGEST_WHOLE), must_be(f"a whole number from 0 to {LARGEST_WHOLE}"), Number
]
SiteByComponent = Annotated[
    dict[Component, Annotated[PlaceName, AfterValidator(only_site)]],
    must_be('an object {component: "site:NAME"}'),
    Sorted,
]
