"""The policies of executors and hosts by their names, with their parameters."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Protocol

from scheduler.base.checks import ModelError
from scheduler.elasticity.leasing import btu, threshold
from scheduler.elasticity.leasing.btu_parameters import BtuParameters
from scheduler.elasticity.leasing.by_load import sized
from scheduler.elasticity.leasing.by_load.sized_parameters import SizedParameters
from scheduler.elasticity.leasing.by_load.sizing import SizedState
from scheduler.elasticity.leasing.removal_score import RemovalWeights
from scheduler.elasticity.leasing.state import LeasingState
from scheduler.elasticity.leasing.threshold import ThresholdParameters

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scheduler.elasticity.leasing.component import Component
    from scheduler.elasticity.leasing.decision import LeasingDecision
    from scheduler.elasticity.leasing.host import Offer
    from scheduler.elasticity.leasing.observation import Observation
    from scheduler.elasticity.leasing.parameters import LeasingParameters

_GIVEN = ("components", "offer")
"""Parameters that follow from what is scaled and leased."""


class Decide(Protocol):
    """A policy: pure, so that a round can be repeated."""

    def __call__(
        self, observation: Observation, state: Any, parameters: Any, seed: int
    ) -> tuple[LeasingDecision, Any]:
        """Decide a round."""


@dataclass(frozen=True)
class Kind:
    """A kind of policy.

    Attributes:
        decide: Decides a round.
        parameters: Type of its parameters.
        first: State before its first round.
    """

    decide: Decide
    parameters: type[LeasingParameters]
    first: Any

    @property
    def own(self) -> frozenset[str]:
        """Names of the parameters that may be stated."""
        return frozenset(each.name for each in fields(self.parameters)) - set(_GIVEN)

    def parameters_of(
        self, components: tuple[Component, ...], offer: Offer, stated: Mapping[str, Any]
    ) -> LeasingParameters:
        """Return parameters.

        Args:
            components: What is scaled.
            offer: What is leased.
            stated: Values of its own parameters; the others have their defaults.

        Raises:
            ModelError: A parameter is unknown or refused; with its name.
        """
        unknown = [key for key in stated if key not in self.own]
        if unknown:
            raise ModelError(unknown[0], "unknown key")
        given = dict(stated)
        if isinstance(given.get("weights"), dict):
            try:
                given["weights"] = RemovalWeights(**given["weights"])
            except TypeError as error:
                raise ModelError("weights", str(error)) from error
        return self.parameters(components=components, offer=offer, **given)


KINDS: Mapping[str, Kind] = {
    "btu": Kind(btu.decide, BtuParameters, LeasingState()),
    "threshold": Kind(threshold.decide, ThresholdParameters, LeasingState()),
    "sized": Kind(sized.decide, SizedParameters, SizedState()),
}
