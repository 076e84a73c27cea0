"""What the status line of the round that placed the query says of its costs."""

from __future__ import annotations

import re
from dataclasses import dataclass

_COSTS = re.compile(r"placement cost (?P<places>[\d.e+-]+), link cost (?P<links>[\d.e+-]*\d)")


@dataclass(frozen=True)
class PlannedCosts:
    """Costs of a plan, in cost units.

    Attributes:
        placement_cost: P (paper 002, eq. 5).
        link_cost: Q (eq. 6).
    """

    placement_cost: float
    link_cost: float


def planned_costs(status: str) -> PlannedCosts | None:
    """Return the costs that a status line states; None if it states none."""
    found = _COSTS.search(status)
    return None if found is None else PlannedCosts(float(found["places"]), float(found["links"]))
