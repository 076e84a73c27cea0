"""Settings that a topology brings in its own configuration: `topology.stormplace.*`."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from scheduler.model.metrics.catalogue import METRICS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

PREFIX = "topology.stormplace."
ATTRIBUTES = {
    f"{PREFIX}strategy": "strategy",
    f"{PREFIX}weights": "weights",
    f"{PREFIX}pin": "pin",
    f"{PREFIX}avoid": "avoid",
    f"{PREFIX}rates": "rates",
    f"{PREFIX}time.limit.ms": "time_limit_ms",
    f"{PREFIX}seed": "seed",
    f"{PREFIX}frozen": "frozen",
}
"""Every key of a topology's configuration that is read, and the attribute of `TopologySettings` it sets."""
EVERY_COMPONENT = "*"
# No setting has a use for more; NaN and the infinities fail the comparison too.
_LARGEST = 1e15
_LARGEST_RATE = 1e9
_SHOWN_CHARACTERS = 60


@dataclass(frozen=True, slots=True)
class Place:
    """A site or a host, as pins and avoidances name it."""

    kind: Literal["site", "host"]
    name: str

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}"


@dataclass(frozen=True)
class TopologySettings:
    """How one topology wants to be placed.

    Attributes:
        strategy: Name in the strategy registry.
        weights: Weight by quality, summing to 1.
        pin: The only place of a component's executors.
        avoid: Places that a component's executors may not use; the key `*` means every component.
        time_limit_ms: Time for this topology's search, or None for the daemon's.
        seed: Seed of the strategy.
        frozen: True if running executors never move.
        faults: One phrase per unknown key or bad value; each such key has its default.
        rates: Declared tuples per second on each output stream of a component.
    """

    strategy: str
    weights: Mapping[str, float]
    pin: Mapping[str, Place]
    avoid: Mapping[str, tuple[Place, ...]]
    time_limit_ms: int | None
    seed: int
    frozen: bool
    faults: tuple[str, ...] = field(default=())
    rates: Mapping[str, float] = field(default_factory=dict)


def parse_topology_settings(
    settings_json: str,
    components: Collection[str],
    strategies: Collection[str],
    default_strategy: str,
    default_seed: int,
) -> TopologySettings:
    """Read a topology's settings; whatever is unknown or bad keeps its default and is named in `faults`.

    Args:
        settings_json: JSON object of the configuration keys that start with `topology.stormplace.`.
        components: Names of the topology's components.
        strategies: Names of the known strategies.
        default_strategy: Strategy of topologies that name none.
        default_seed: Seed of topologies that name none.
    """
    settings = TopologySettings(
        strategy=default_strategy,
        weights={"response_time": 1.0},
        pin={},
        avoid={},
        time_limit_ms=None,
        seed=default_seed,
        frozen=False,
    )
    try:
        data = json.loads(settings_json or "{}")
    except (ValueError, RecursionError):
        return replace(settings, faults=("the settings are no JSON",))
    if not isinstance(data, dict):
        return replace(settings, faults=("the settings are no JSON object",))
    readers: dict[str, Callable[[Any], Any]] = {
        "strategy": lambda value: _strategy(value, strategies),
        "weights": _weights,
        "pin": lambda value: _pin(value, components),
        "avoid": lambda value: _avoid(value, components),
        "rates": lambda value: _rates(value, components),
        "time_limit_ms": lambda value: _whole_number(value, 1),
        "seed": lambda value: _whole_number(value, 0),
        "frozen": _boolean,
    }
    faults: list[str] = []
    values: dict[str, Any] = {}
    for key in sorted(data):
        name = ATTRIBUTES.get(key)
        if name is None:
            faults.append(f"{key}: unknown key")
            continue
        try:
            values[name] = readers[name](data[key])
        except ValueError as error:
            faults.append(f"{key}: {error}")
    return replace(settings, **values, faults=tuple(faults))


def _strategy(value: Any, strategies: Collection[str]) -> str:
    if not isinstance(value, str) or value not in strategies:
        msg = f"must be one of {', '.join(sorted(strategies))}, got {_shown(value)}"
        raise ValueError(msg)
    return value


def _weights(value: Any) -> dict[str, float]:
    if not isinstance(value, dict) or not value:
        msg = f"must be an object of weights, got {_shown(value)}"
        raise ValueError(msg)
    weights: dict[str, float] = {}
    for name, weight in sorted(value.items()):
        if name not in METRICS:
            msg = f"unknown weight {name!r}, known are {', '.join(METRICS)}"
            raise ValueError(msg)
        number = _number(weight, f"weight {name}")
        if number < 0:
            msg = f"weight {name} must be >= 0, got {number:g}"
            raise ValueError(msg)
        if number > 0:
            weights[name] = number
    total = math.fsum(weights.values())
    if not math.isclose(total, 1.0, abs_tol=1e-6):
        msg = f"weights must sum to 1, got {total:g}"
        raise ValueError(msg)
    # The objective is stricter about the sum than people who write thirds can be.
    return {name: weight / total for name, weight in weights.items()}


def _pin(value: Any, components: Collection[str]) -> dict[str, Place]:
    if not isinstance(value, dict):
        msg = f'must be an object {{component: "site:NAME" or "host:NAME"}}, got {_shown(value)}'
        raise ValueError(msg)  # noqa: TRY004  # a bad value of a setting, collected like every other one
    for component in sorted(value):
        _check_component(component, components)
    return {component: _place(value[component]) for component in sorted(value)}


def _avoid(value: Any, components: Collection[str]) -> dict[str, tuple[Place, ...]]:
    by_component = value if isinstance(value, dict) else {EVERY_COMPONENT: value}
    result: dict[str, tuple[Place, ...]] = {}
    for component, places in sorted(by_component.items()):
        if component != EVERY_COMPONENT:
            _check_component(component, components)
        listed = places if isinstance(places, list) else [places]
        result[component] = tuple(_place(place) for place in listed)
    return result


def _rates(value: Any, components: Collection[str]) -> dict[str, float]:
    if not isinstance(value, dict):
        msg = f"must be an object {{component: tuples per second}}, got {_shown(value)}"
        raise ValueError(msg)  # noqa: TRY004  # a bad value of a setting, collected like every other one
    rates: dict[str, float] = {}
    for component, rate in sorted(value.items()):
        _check_component(component, components)
        rates[component] = _number(rate, f"rate of {component}")
        if not 0 < rates[component] <= _LARGEST_RATE:
            msg = f"rate of {component} must be > 0 and <= {_LARGEST_RATE:g}, got {_shown(rate)}"
            raise ValueError(msg)
    return rates


def _check_component(component: str, components: Collection[str]) -> None:
    if component not in components:
        msg = f"the topology has no component {component!r}"
        raise ValueError(msg)


def _place(value: Any) -> Place:
    if isinstance(value, str):
        kind, _, name = value.partition(":")
        if name and kind == "site":
            return Place("site", name)
        if name and kind == "host":
            return Place("host", name)
    msg = f'a place is "site:NAME" or "host:NAME", got {_shown(value)}'
    raise ValueError(msg)


def _number(value: Any, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < _LARGEST:
        msg = f"{what} must be a number, got {_shown(value)}"
        raise ValueError(msg)
    return float(value)


def _whole_number(value: Any, least: int) -> int:
    # Numbers pass through Storm's JSON, where a whole number may arrive as 5.0.
    number = _number(value, "the value")
    if number != int(number) or not least <= number < 2**31:
        msg = f"must be a whole number from {least} to {2**31 - 1}, got {_shown(value)}"
        raise ValueError(msg)
    return int(number)


def _boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        msg = f"must be true or false, got {_shown(value)}"
        raise ValueError(msg)  # noqa: TRY004  # a bad value of a setting, collected like every other one
    return value


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN_CHARACTERS else text[: _SHOWN_CHARACTERS - 3] + "..."
