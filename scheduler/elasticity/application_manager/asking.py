"""What the application manager is told: requests of its operator managers, and what they compete for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scheduler.base.checks import ModelError, number, shown, whole_number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scheduler.elasticity.operator_manager.request import OperatorRequest


@dataclass(frozen=True)
class Asked:
    """A request, and what it is judged by.

    Attributes:
        request: Of an operator manager.
        region: Site of the component, which its executors do not leave.
        load: R_op / R_max,op, its response time over its bound (>= 0); what is above 1 is late.
        pause_s: How long the change is predicted to pause the component, s (>= 0).
    """

    request: OperatorRequest
    region: str
    load: float
    pause_s: float = 0.0

    def __post_init__(self) -> None:
        number("load", self.load)
        number("pause_s", self.pause_s)


@dataclass(frozen=True)
class ApplicationObservation:
    """What is known at the time of a decision.

    Attributes:
        now_s: Time of the decision, s.
        asked: At most one request per component.
        free_slots: By region, places for executors on hosts that are up and not leaving (>= 0); a region that
            is missing has none.
        frozen: Whether the topology must not change now.
    """

    now_s: float
    asked: tuple[Asked, ...]
    free_slots: Mapping[str, int]
    frozen: bool = False

    def __post_init__(self) -> None:
        number("now_s", self.now_s)
        for region, slots in self.free_slots.items():
            whole_number(f"free_slots.{region}", slots, 0)
        names = [each.request.component for each in self.asked]
        for k, each in enumerate(names):
            if each in names[:k]:
                raise ModelError(f"asked[{k}].request.component", f"{shown(each)} is there twice")
