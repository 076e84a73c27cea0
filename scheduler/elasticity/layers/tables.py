"""Managers by their names, and their parameters from tables that someone has written."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Any

from scheduler.base.checks import ModelError, shown
from scheduler.elasticity.application_manager.bucket import Bucket
from scheduler.elasticity.learning.season import SeasonParameters
from scheduler.elasticity.operator_manager.model_parameters import ModelBasedParameters, OperatorWeights
from scheduler.elasticity.operator_manager.rolling_parameters import RollingParameters
from scheduler.elasticity.operator_manager.threshold import ThresholdParameters
from scheduler.elasticity.region_manager.idle_pool import IdlePoolParameters
from scheduler.elasticity.region_manager.model_parameters import RegionModelParameters, RegionWeights

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from scheduler.elasticity.layers.managers_of import OperatorParameters, RegionParameters

OPERATOR_MANAGERS: Mapping[str, type[OperatorParameters]] = {
    "threshold": ThresholdParameters,
    "model-based": ModelBasedParameters,
    "rolling": RollingParameters,
}
REGION_MANAGERS: Mapping[str, type[RegionParameters]] = {
    "idle-pool": IdlePoolParameters,
    "model-based": RegionModelParameters,
}
_BUCKETS = {"reconfigurations", "pauses"}
"""Parameters of the application manager that are tables of `Bucket`."""


def manager_from(
    kind: type[Any], key: str, own: object, given: Mapping[str, Any], refused: Collection[str]
) -> Any:
    """Return a manager's parameters.

    Args:
        kind: Their type.
        key: Of the table, for messages.
        own: The table.
        given: What follows from what is scaled; the table may replace it.
        refused: Parameters that the table must not state.

    Raises:
        ModelError: A parameter is unknown or refused; with its place.
    """
    known = {field.name for field in fields(kind)} - set(refused)
    own = _table(key, own, known)
    if "weights" in own:
        weights = RegionWeights if kind is RegionModelParameters else OperatorWeights
        own["weights"] = _made(weights, f"{key}.weights", own["weights"])
    for bucket in _BUCKETS & own.keys():
        own[bucket] = _made(Bucket, f"{key}.{bucket}", own[bucket])
    if "season" in own:
        own["season"] = _made(SeasonParameters, f"{key}.season", own["season"])
    return _made(kind, key, {**given, **own})


def _table(key: str, table: object, known: Collection[str]) -> dict[str, Any]:
    if not isinstance(table, dict):
        raise ModelError(key, f"expected a table, got {shown(table)}")
    for name in table:
        if name not in known:
            raise ModelError(f"{key}.{name}", "unknown key")
    return dict(table)


def _made(kind: type[Any], key: str, table: object) -> Any:
    content = _table(key, table, {field.name for field in fields(kind)})
    for field in fields(kind):
        if field.default is MISSING and field.default_factory is MISSING and field.name not in content:
            raise ModelError(f"{key}.{field.name}", "missing")
    try:
        return kind(**content)
    except ValueError as error:
        where, _, message = str(error).partition(": ")
        # weights name themselves
        place = key if key.endswith(f".{where}") else f"{key}.{where}"
        raise ModelError(place, message) from error
