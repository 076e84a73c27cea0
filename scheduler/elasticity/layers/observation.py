"""What both layers see, and what they remember."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from scheduler.elasticity.application_manager.granting import ApplicationState

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scheduler.elasticity.layers.managers_of import OperatorState, RegionState
    from scheduler.elasticity.leasing.host import Host
    from scheduler.elasticity.operator_manager.sample import OperatorSample


@dataclass(frozen=True)
class LayersObservation:
    """What is known at the time of a decision.

    Attributes:
        now_s: Time of the decision, s.
        hosts: Of each region, the oldest lease first, with what was decided in earlier rounds.
        samples: The last one of each component; what is missing was not measured.
    """

    now_s: float
    hosts: Mapping[str, tuple[Host, ...]]
    samples: Mapping[str, OperatorSample]


@dataclass(frozen=True)
class LayersState:
    """Memory of all managers.

    Attributes:
        operators: Of each operator manager.
        regions: Of each region manager.
        application: Of the application manager.
        changed_s: When executors of a component last changed, s.
        asked_s: When operators were last asked, s; None: never.
        regions_asked_s: The same of regions.
        unmet: Requests by region that found no place since regions were asked.
        requests: How many hosts have been asked for; numbers the requests.
    """

    operators: Mapping[str, OperatorState] = field(default_factory=dict)
    regions: Mapping[str, RegionState] = field(default_factory=dict)
    application: ApplicationState = field(default_factory=ApplicationState)
    changed_s: Mapping[str, float] = field(default_factory=dict)
    asked_s: float | None = None
    regions_asked_s: float | None = None
    unmet: Mapping[str, int] = field(default_factory=dict)
    requests: int = 0
