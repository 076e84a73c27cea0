"""Settings that a topology brings in its own configuration: `topology.stormplace.*`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from bridge.wishes.place import PLACE_FORMS, Place
from bridge.wishes.setting_texts import read_settings
from bridge.wishes.setting_values import (
    COSTS,
    LARGEST_WHOLE,
    AboveZero,
    Amount,
    Component,
    Count,
    Number,
    PlaceName,
    PlacesByComponent,
    Rate,
    SiteByComponent,
    Sorted,
    Weight,
    check_metric,
    check_strategy,
    must_be,
    neighbours,
    not_free,
    not_nowhere,
    read_where,
    sum_to_1,
)

if TYPE_CHECKING:
    from collections.abc import Collection

    from pydantic_core import ErrorDetails

PREFIX = "topology.stormplace."


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
        tuple_bytes: Declared mean size of the tuples that a component emits, bytes.
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
        colocate: Sets of components whose executors share hosts: the k-th of n of a component runs where the
            (k m // n)-th of m of the next one does.
        placement_cost: What an executor of a component costs at some places; elsewhere, and of components
            that are not named, its load times the unit cost of the host counts.
        origin: Site outside Storm from where a component takes what it emits.
        destination: Site outside Storm to which a component sends what it takes.
        link_cost_basis: What a stream between two executors pays the cost of a link by: its share of the
            stream between their components, once, or its traffic.
        inop_mixed: Tiers of graphs with ends at the edge and in the cloud, for `inop-restrict` and others.
        inop_colocate_share: Pairs of executors that `inop-colocate` and others join, per executor.
        faults: One phrase per unknown key or bad value; each such key has its default.
        unclear: Keys with bad values that price or limit moves.
    """

    # Whole numbers may arrive as 5.0: they pass through Storm's JSON.
    model_config = ConfigDict(frozen=True, alias_generator=lambda name: PREFIX + name.replace("_", "."))

    strategy: Annotated[str, BeforeValidator(check_strategy)] = ""
    weights: Annotated[
        dict[Annotated[str, AfterValidator(check_metric)], Weight],
        Field(min_length=1),
        must_be("an object of weights"),
        Sorted,
        AfterValidator(sum_to_1),
    ] = {"response_time": 1.0}
    pin: Annotated[
        dict[Component, PlaceName], must_be(f"an object {{component: {PLACE_FORMS}}}"), Sorted
    ] = {}
    avoid: PlacesByComponent = {}
    allow: Annotated[PlacesByComponent, AfterValidator(not_nowhere)] = {}
    rates: Annotated[dict[Component, Rate], must_be("an object {component: tuples per second}"), Sorted] = {}
    tuple_bytes: Annotated[
        dict[Component, AboveZero], must_be("an object {component: bytes per tuple}"), Sorted
    ] = {}
    execution_ms: Annotated[
        dict[Component, Amount], must_be("an object {component: ms per tuple}"), Sorted
    ] = {}
    time_limit_ms: Annotated[
        int | None,
        Field(ge=1, le=LARGEST_WHOLE),
        must_be(f"a whole number from 1 to {LARGEST_WHOLE}"),
        Number,
    ] = None
    seed: Count = 0
    frozen: Annotated[bool, Field(strict=True), must_be("true or false")] = False
    image_mb: Amount | None = None
    state_mb: Annotated[dict[Component, Amount], must_be("an object {component: MB}"), Sorted] = {}
    cost_model: Annotated[Literal["per-executor", "per-host"], must_be("per-executor or per-host")] = (
        "per-executor"
    )
    migration_scale: AboveZero | None = None
    budget_cost_per_sec: Amount | None = None
    budget_migration: Amount | None = None
    duration_max_ms: Annotated[dict[Component, AboveZero], must_be("an object {component: ms}"), Sorted] = {}
    replan_gain_min: Annotated[float, Field(ge=0, le=1), must_be("from 0 to 1"), Number] | None = None
    replan_horizon_secs: AboveZero | None = None
    replan_interval_secs: AboveZero | None = None
    replan_moves_max: Count | None = None
    replan_workers_max: Count | None = None
    replan_cooldown_secs: Amount | None = None
    replan_persistence: Annotated[
        Literal["weight", "pin", "none"], must_be("weight, pin or none"), AfterValidator(not_free)
    ] = "weight"
    colocate: Annotated[
        tuple[tuple[Component, ...], ...],
        must_be("a list of lists of components"),
        AfterValidator(neighbours),
    ] = ()
    placement_cost: Annotated[
        dict[Component, dict[Annotated[Place, BeforeValidator(read_where)], Amount]],
        must_be("an object {component: {tier or site: cost}}"),
        Sorted,
    ] = {}
    origin: SiteByComponent = {}
    destination: SiteByComponent = {}
    link_cost_basis: Annotated[Literal["stream", "flow", "traffic"], must_be("stream, flow or traffic")] = (
        "stream"
    )
    inop_mixed: Annotated[Literal["cloud", "edge", "all"], must_be("cloud, edge or all")] = "cloud"
    inop_colocate_share: Annotated[float, Field(ge=0, le=1), must_be("from 0 to 1"), Number] | None = None
    faults: tuple[str, ...] = ()
    unclear: tuple[str, ...] = ()

    @property
    def names_places(self) -> bool:
        """Whether some components may not run everywhere."""
        return bool(self.pin or self.avoid or self.allow)

    @property
    def ends_outside(self) -> bool:
        """Whether it has ends outside Storm."""
        return bool(self.origin or self.destination)

    @property
    def weighs_costs(self) -> bool:
        """Whether costs of places or links are weighed."""
        return not self.weights.keys().isdisjoint(COSTS)


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
    "tuple_bytes": "size of",
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
