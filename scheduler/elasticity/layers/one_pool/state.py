"""What both layers remember where they scale one pool of hosts, and which of it still means something."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from scheduler.elasticity.layers.managers_of import MANAGERS
from scheduler.elasticity.layers.observation import LayersState
from scheduler.elasticity.layers.one_pool.parameters import POOL, topology_of
from scheduler.elasticity.operator_manager.model_based import ModelBasedState
from scheduler.elasticity.operator_manager.model_parameters import ModelBasedParameters
from scheduler.elasticity.operator_manager.rolling import RollingState
from scheduler.elasticity.operator_manager.rolling_parameters import RollingParameters
from scheduler.elasticity.region_manager.model_based import RegionModelState
from scheduler.elasticity.region_manager.model_parameters import RegionModelParameters

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scheduler.elasticity.layers.managers_of import OperatorParameters, RegionParameters
    from scheduler.elasticity.layers.one_pool.basis import Basis
    from scheduler.elasticity.layers.parameters import LayersParameters
    from scheduler.elasticity.learning.season import Season
    from scheduler.elasticity.operator_manager.model import OperatorModel
    from scheduler.elasticity.region_manager.model import RegionModel


@dataclass(frozen=True)
class OnePoolState:
    """Memory of all managers.

    Attributes:
        bases: What managers are made from, by topology.
        waiting: Items that waited when operators were last asked, by component.
        region: What was stated of the manager of hosts; None: it was never asked.
        layers: Of the managers.
    """

    bases: Mapping[str, Basis] = field(default_factory=dict)
    waiting: Mapping[str, float] = field(default_factory=dict)
    region: Mapping[str, Any] | None = None
    layers: LayersState = field(default_factory=LayersState)


def with_bases(
    state: OnePoolState, bases: Mapping[str, Basis], made: LayersParameters, region: Mapping[str, Any]
) -> OnePoolState:
    """Return the memory as far as it means something on other bases; the rest begins anew.

    Tables are of numbers of executors, rates and bounds. What is usual at each time of the week is of the
    rate only, and outlasts another service time.

    Args:
        state: From the rounds before.
        bases: From now on.
        made: The managers on them.
        region: What is stated of the manager of hosts now.
    """
    operators = dict(state.layers.operators)
    for each in made.operators:
        name = each.component.name
        if each.manager is not None and name in operators:
            before, after = (found.get(topology_of(name)) for found in (state.bases, bases))
            operators[name] = _of_operator(operators[name], each.manager, before, after)
    regions = dict(state.layers.regions)
    manager = made.regions[POOL].manager
    if POOL in regions and (state.region != region or not _region_fits(regions[POOL], manager)):
        del regions[POOL]
    layers = replace(state.layers, operators=operators, regions=regions)
    return replace(state, bases=bases, region=region, layers=layers)


def since_clock_was_set(state: OnePoolState, now_s: float) -> OnePoolState:
    """Return the memory without times that are still to come: the clock was set back, and they never were."""
    asked_s = state.layers.asked_s
    if asked_s is None or asked_s <= now_s:
        return state
    operators = {name: _since_clock_was_set(each) for name, each in state.layers.operators.items()}
    regions = {name: _since_clock_was_set(each) for name, each in state.layers.regions.items()}
    return replace(
        state,
        waiting={},
        layers=replace(
            state.layers,
            operators=operators,
            regions=regions,
            asked_s=None,
            regions_asked_s=None,
            changed_s={name: min(each, now_s) for name, each in state.layers.changed_s.items()},
        ),
    )


def _since_clock_was_set(state: Any) -> Any:
    if isinstance(state, ModelBasedState | RollingState):
        season = None if state.season is None else replace(state.season, recent=())
        return replace(state, until_s=0.0, season=season)
    return replace(state, until_s=0.0) if isinstance(state, RegionModelState) else state


def _of_operator(state: Any, manager: OperatorParameters, before: Basis | None, after: Basis | None) -> Any:
    first = MANAGERS[type(manager)].first
    if type(state) is not type(first):
        return first
    if isinstance(state, RollingState) and isinstance(manager, RollingParameters):
        same = _same_season(before, after) and _season_fits(state.season, manager.season.slots)
        return state if same else first
    if isinstance(state, ModelBasedState) and isinstance(manager, ModelBasedParameters):
        slots = 0 if manager.season is None else manager.season.slots
        if not (_same_season(before, after) and _season_fits(state.season, slots)):
            return first
        if not _same_tables(before, after) or not _model_fits(state.model, manager):
            return replace(first, season=state.season)
    return state


def _same_tables(before: Basis | None, after: Basis | None) -> bool:
    if before is None or after is None:
        return False
    return (before.parts, before.stated) == (after.parts, after.stated)


def _same_season(before: Basis | None, after: Basis | None) -> bool:
    """Return whether rates are of the same component or path, and forecast in the same way."""
    if before is None or after is None:
        return False
    first, then = (
        (each.parts[0].component, stated.get("season"), bool(stated.get("joint")))
        for each in (before, after)
        for stated in (each.stated["operator"],)
    )
    return first == then


def _season_fits(season: Season | None, slots: int) -> bool:
    return season is None or all(
        each.shape == (slots,) for each in (season.means, season.times, season.usual)
    )


def _model_fits(model: OperatorModel | None, manager: ModelBasedParameters) -> bool:
    if model is None:
        return True
    learned = manager.together if manager.joint else manager
    shape = (len(learned.choices), learned.levels)
    tables = (model.unknown, model.seen, model.fit.table, model.fit.by_columns, model.reached)
    return (
        model.counts.shape == (manager.levels, manager.levels)
        and model.worth.shape == (*shape, 3)
        and all(each.shape == shape for each in tables)
    )


def _region_fits(state: Any, manager: RegionParameters | None) -> bool:
    if manager is None or type(state) is not type(MANAGERS[type(manager)].first):
        return False
    if not isinstance(state, RegionModelState) or not isinstance(manager, RegionModelParameters):
        return True
    return state.model is None or _region_model_fits(state.model, manager)


def _region_model_fits(model: RegionModel, manager: RegionModelParameters) -> bool:
    levels, shape = manager.levels, (manager.rows, manager.levels, 2)
    return (
        model.levels.shape == (levels, levels)
        and model.idle.shape == (3, 2, 2)
        and model.unknown.shape == shape
        and model.worth.shape == (*shape, 3)
    )
