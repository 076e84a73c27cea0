"""Settings that a topology brings in its own configuration: `topology.stormplace.*`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)

from bridge.problem.place import PLACE_FORMS, Place, read_place
from bridge.problem.setting_texts import LARGEST, read_settings, shown
from scheduler.model.metrics.catalogue import RANGED

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from pydantic_core import ErrorDetails

PREFIX = "topology.stormplace."
EVERY_COMPONENT = "*"
_OF_EVERY_COMPONENT = frozenset({"avoid", "allow"})
_LARGEST_RATE = 1e9
_LARGEST_AMOUNT = 1e9
_LARGEST_WHOLE = 2**31 - 1


def _must_be(what: str) -> WrapValidator:
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


def _check_strategy(value: Any, info: ValidationInfo[Mapping[str, Collection[str]]]) -> str:
    strategies = info.context["strategies"]
    if not isinstance(value, str) or value not in strategies:
        raise ValueError(f"must be one of {', '.join(sorted(strategies))}, got {shown(value)}")
    return value


def _check_component(name: str, info: ValidationInfo[Mapping[str, Collection[str]]]) -> str:
    of_every = name == EVERY_COMPONENT and info.field_name in _OF_EVERY_COMPONENT
    if name not in info.context["components"] and not of_every:
        raise ValueError(f"the topology has no component {name!r}")
    return name


def _check_metric(name: str) -> str:
    if name not in RANGED:
        raise ValueError(f"unknown weight {name!r}, known are {', '.join(RANGED)}")
    return name


def _sum_to_1(weights: dict[str, float]) -> dict[str, float]:
    total = math.fsum(weights.values())
    if not math.isclose(total, 1.0, abs_tol=1e-6):
        raise ValueError(f"weights must sum to 1, got {total:g}")
    # The objective is stricter about the sum than people who write thirds can be.
    return {name: weight / total for name, weight in weights.items() if weight > 0}


def _by_component(value: Any) -> dict[str, tuple[Any, ...]]:
    """Write places by component in full: a place or a list of them is for every component."""
    places = value if isinstance(value, dict) else {EVERY_COMPONENT: value}
    return {name: tuple(found) if isinstance(found, list) else (found,) for name, found in places.items()}


def _not_nowhere(places: dict[str, tuple[Place, ...]]) -> dict[str, tuple[Place, ...]]:
    empty = [name for name, found in places.items() if not found]
    if empty:
        raise ValueError(f"names no place for {empty[0]}")
    return places


def _not_free(value: str, info: ValidationInfo[Mapping[str, Collection[str]]]) -> str:
    """Refuse to leave prices out where they are limited; fields that come before are in `info.data`."""
    limited = [
        name for name in ("budget_migration", "replan_horizon_secs") if info.data.get(name) is not None
    ]
    if value == "none" and limited:
        raise ValueError(f"none contradicts {limited[0].replace('_', '.')}: what has no price has no limit")
    return value


# By name, so that the first fault does not depend on the order in which Storm wrote the names.
_Sorted = BeforeValidator(lambda value: dict(sorted(value.items())) if isinstance(value, dict) else value)
_Number = BeforeValidator(_check_number)
_Component = Annotated[str, AfterValidator(_check_component)]
_Place = Annotated[Place, BeforeValidator(read_place)]
_PlacesByComponent = Annotated[dict[_Component, tuple[_Place, ...]], _Sorted, BeforeValidator(_by_component)]
_Weight = Annotated[float, Field(ge=0), _must_be(">= 0"), _Number]
_Rate = Annotated[float, Field(gt=0, le=_LARGEST_RATE), _must_be(f"> 0 and <= {_LARGEST_RATE:g}"), _Number]
_Amount = Annotated[
    float, Field(ge=0, le=_LARGEST_AMOUNT), _must_be(f">= 0 and <= {_LARGEST_AMOUNT:g}"), _Number
]
_AboveZero = Annotated[
    float, Field(gt=0, le=_LARGEST_AMOUNT), _must_be(f"> 0 and <= {_LARGEST_AMOUNT:g}"), _Number
]
_Count = Annotated[
    int, Field(ge=0, le=_LARGEST_WHOLE), _must_be(f"a whole number from 0 to {_LARGEST_WHOLE}"), _Number
]


class TopologySettings(BaseModel):
    """How one topology wants to be placed.

    The strategy and the seed of a topology that names none are the daemon's, which the reader fills in.

    Attributes:
        strategy: Name in the strategy registry.
        weights: Weight by metric, summing to 1.
        pin: The only place of a component's executors.
        avoid: Places that a component's executors may not use; the key `*` means every component.
        allow: Places of which one has to be theirs, likewise; where both keys are given both hold.
        rates: Declared tuples per second on each output stream of a component.
        execution_ms: Declared time per tuple of a component's executors, ms, at speed-up 1.
        time_limit_ms: Time for this topology's search, or None for the daemon's.
        seed: Seed of the strategy.
        frozen: True if running executors never move.
        image_mb: What a host loads before it runs the first executor, None if moves have no price for it.
        state_mb: What a host loads with each executor of a component.
        cost_model: Whether a host is paid once, or by each executor there.
        migration_scale: Price of moves that weighs as much as the whole weight of `migration`, in units of
            the cost; None: the largest that moves can have.
        budget_cost_per_sec: Most that hosts may cost, per second.
        budget_migration: Most that one change may cost.
        duration_max_ms: Most time per tuple, waiting included, by component.
        replan_gain_min: Gain of F that a move has to exceed, in the place of the daemon's thresholds.
        replan_horizon_secs: Time within which a move has to pay its price, or None for the daemon's.
        replan_interval_secs: Time from one look for gains to the next; None: every round looks.
        replan_moves_max: Executors that may move in a round for a gain.
        replan_workers_max: Workers that may restart in a round for a gain.
        replan_cooldown_secs: Time after a change in which nothing moves for a gain, beside the daemon's.
        replan_persistence: Whether prices weigh as the weights say, nothing moves that need not, or moves are
            taken for free.
        faults: One phrase per unknown key or bad value; each such key has its default.
        unclear: Keys with bad values that price or limit moves.
    """

    # Whole numbers may arrive as 5.0: they pass through Storm's JSON.
    model_config = ConfigDict(frozen=True, alias_generator=lambda name: PREFIX + name.replace("_", "."))

    strategy: Annotated[str, BeforeValidator(_check_strategy)] = ""
    weights: Annotated[
        dict[Annotated[str, AfterValidator(_check_metric)], _Weight],
        Field(min_length=1),
        _must_be("an object of weights"),
        _Sorted,
        AfterValidator(_sum_to_1),
    ] = {"response_time": 1.0}
    pin: Annotated[
        dict[_Component, _Place], _must_be(f"an object {{component: {PLACE_FORMS}}}"), _Sorted
    ] = {}
    avoid: _PlacesByComponent = {}
    allow: Annotated[_PlacesByComponent, AfterValidator(_not_nowhere)] = {}
    rates: Annotated[
        dict[_Component, _Rate], _must_be("an object {component: tuples per second}"), _Sorted
    ] = {}
    execution_ms: Annotated[
        dict[_Component, _Amount], _must_be("an object {component: ms per tuple}"), _Sorted
    ] = {}
    time_limit_ms: Annotated[
        int | None,
        Field(ge=1, le=_LARGEST_WHOLE),
        _must_be(f"a whole number from 1 to {_LARGEST_WHOLE}"),
        _Number,
    ] = None
    seed: _Count = 0
    frozen: Annotated[bool, Field(strict=True), _must_be("true or false")] = False
    image_mb: _Amount | None = None
    state_mb: Annotated[dict[_Component, _Amount], _must_be("an object {component: MB}"), _Sorted] = {}
    cost_model: Annotated[Literal["per-executor", "per-host"], _must_be("per-executor or per-host")] = (
        "per-executor"
    )
    migration_scale: _AboveZero | None = None
    budget_cost_per_sec: _Amount | None = None
    budget_migration: _Amount | None = None
    duration_max_ms: Annotated[
        dict[_Component, _AboveZero], _must_be("an object {component: ms}"), _Sorted
    ] = {}
    replan_gain_min: Annotated[float, Field(ge=0, le=1), _must_be("from 0 to 1"), _Number] | None = None
    replan_horizon_secs: _AboveZero | None = None
    replan_interval_secs: _AboveZero | None = None
    replan_moves_max: _Count | None = None
    replan_workers_max: _Count | None = None
    replan_cooldown_secs: _Amount | None = None
    replan_persistence: Annotated[
        Literal["weight", "pin", "none"], _must_be("weight, pin or none"), AfterValidator(_not_free)
    ] = "weight"
    faults: tuple[str, ...] = ()
    unclear: tuple[str, ...] = ()

    @property
    def names_places(self) -> bool:
        """Whether some components may not run everywhere."""
        return bool(self.pin or self.avoid or self.allow)


ATTRIBUTES = {
    str(field.alias): name
    for name, field in TopologySettings.model_fields.items()
    if name not in {"faults", "unclear"}
}
"""Every key of a topology's configuration that is read, and the attribute of `TopologySettings` it sets."""
_OF_MOVES = tuple(
    PREFIX + group for group in ("budget.", "cost.", "duration.", "image.", "migration.", "replan.", "state.")
)
_NUMBER_OF = {
    "weights": "weight",
    "rates": "rate of",
    "state_mb": "state of",
    "execution_ms": "time of",
    "duration_max_ms": "limit of",
}


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
    context = {"components": components, "strategies": strategies}
    given, faults = read_settings(settings_json, "the")
    faults |= {key: f"{key}: unknown key" for key in given if key not in ATTRIBUTES}
    known = {key: value for key, value in given.items() if key in ATTRIBUTES}
    try:
        settings = TopologySettings.model_validate(known, context=context)
    except ValidationError as error:
        for fault in error.errors(include_url=False):
            faults.setdefault(str(fault["loc"][0]), _sentence(fault))
        good = {key: value for key, value in known.items() if key not in faults}
        settings = TopologySettings.model_validate(good, context=context)
    daemons = {"strategy": default_strategy, "seed": default_seed}
    unset = {name: value for name, value in daemons.items() if name not in settings.model_fields_set}
    unclear = tuple(key for key in sorted(faults) if key in ATTRIBUTES and key.startswith(_OF_MOVES))
    phrases = {"faults": tuple(faults[key] for key in sorted(faults)), "unclear": unclear}
    return settings.model_copy(update={**unset, **phrases})


def _sentence(fault: ErrorDetails) -> str:
    """Say what is wrong with the value of a key; numbers of components and metrics with their name."""
    key, *path = fault["loc"]
    text = str(fault["ctx"]["error"]) if fault["type"] == "value_error" else fault["msg"]
    named = _NUMBER_OF.get(ATTRIBUTES[str(key)])
    if named and len(path) == 1:
        text = f"{named} {path[0]} {text.removeprefix('the value ')}"
    return f"{key}: {text}"
