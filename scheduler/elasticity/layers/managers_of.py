"""Which manager belongs to which parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

from scheduler.elasticity.operator_manager import model_based, rolling, threshold
from scheduler.elasticity.operator_manager.model_based import ModelBasedState
from scheduler.elasticity.operator_manager.model_parameters import ModelBasedParameters
from scheduler.elasticity.operator_manager.rolling import RollingState
from scheduler.elasticity.operator_manager.rolling_parameters import RollingParameters
from scheduler.elasticity.operator_manager.threshold import ThresholdParameters, ThresholdState
from scheduler.elasticity.region_manager import idle_pool
from scheduler.elasticity.region_manager import model_based as region_model_based
from scheduler.elasticity.region_manager.idle_pool import IdlePoolParameters, IdlePoolState
from scheduler.elasticity.region_manager.model_based import RegionModelState
from scheduler.elasticity.region_manager.model_parameters import RegionModelParameters

if TYPE_CHECKING:
    from collections.abc import Mapping

OperatorParameters: TypeAlias = ThresholdParameters | ModelBasedParameters | RollingParameters
RegionParameters: TypeAlias = IdlePoolParameters | RegionModelParameters
OperatorState: TypeAlias = ThresholdState | ModelBasedState | RollingState
RegionState: TypeAlias = IdlePoolState | RegionModelState


class Ask(Protocol):
    """How a manager asks; pure."""

    def __call__(self, observation: Any, state: Any, parameters: Any, seed: int) -> tuple[Any, Any]:
        """Return a request and the manager's state."""


class Manager(NamedTuple):
    """A kind of manager.

    Attributes:
        decide: How it asks.
        first: Its state before the first round.
    """

    decide: Ask
    first: Any


MANAGERS: Mapping[type[Any], Manager] = {
    ThresholdParameters: Manager(threshold.decide, ThresholdState()),
    ModelBasedParameters: Manager(model_based.decide, ModelBasedState()),
    RollingParameters: Manager(rolling.decide, RollingState()),
    IdlePoolParameters: Manager(idle_pool.decide, IdlePoolState()),
    RegionModelParameters: Manager(region_model_based.decide, RegionModelState()),
}
"""By the type of the manager's parameters."""
