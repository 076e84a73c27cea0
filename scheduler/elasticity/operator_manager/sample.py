"""What an operator manager is told."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from scheduler.base.checks import ModelError, name, number, numbers, whole_number

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, eq=False)
class OperatorSample:
    """What was measured of a component in an interval; compared as an object, so that it is a quick key.

    Attributes:
        component: Its name.
        from_s: Begin of the interval, s.
        until_s: Its end, s.
        executors: Replicas that ran in it (>= 1).
        arrival_rate: Tuples that arrived per second, those that wait at the source included (>= 0).
        utilisation: (executors,) U_r, share of the interval in which each was busy (>= 0).
        response_ms: R_op, mean time in the component, waiting included, ms (>= 0).
        paused: Whether any component of the topology paused within the interval.
        backlog: Tuples that waited already when it began (>= 0).
        application_load: R / R_max of the whole application in it (>= 0); None: not measured.
    """

    component: str
    from_s: float
    until_s: float
    executors: int
    arrival_rate: float
    utilisation: tuple[float, ...]
    response_ms: float
    paused: bool = False
    backlog: float = 0.0
    application_load: float | None = None

    def __post_init__(self) -> None:
        name("component", self.component)
        number("from_s", self.from_s)
        number("until_s", self.until_s, above=self.from_s)
        whole_number("executors", self.executors, 1)
        number("arrival_rate", self.arrival_rate)
        if len(self.utilisation) != self.executors:
            found = len(self.utilisation)
            raise ModelError(
                "utilisation", f"expected one number per executor ({self.executors}), got {found}"
            )
        numbers("utilisation", self.utilisation)
        number("response_ms", self.response_ms)
        number("backlog", self.backlog)
        if self.application_load is not None:
            number("application_load", self.application_load)


@dataclass(frozen=True)
class OperatorObservation:
    """What is known at the time of a decision.

    Attributes:
        now_s: Time of the decision, s.
        sample: The last one; None: nothing was measured, which is not a load of 0.
        changed_s: When executors of the component last were changed, s; None: never.
        others: The last samples of the topology's components by name, for managers that plan for several.
    """

    now_s: float
    sample: OperatorSample | None
    changed_s: float | None = None
    others: Mapping[str, OperatorSample] = field(default_factory=dict)
