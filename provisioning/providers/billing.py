"""What leased hosts cost: a unit is billed if the host is not gone when it starts; renewing is no call."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from provisioning.providers.entry import Entry

BillFrom = Literal["ready", "request"]
"""When the first unit of a lease starts."""
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Bill:
    """What of a lease has been billed.

    Attributes:
        units: Billing units that have started.
        paid_until_s: When the last of them ends, s since 1970; None: nothing is billed.
    """

    units: int = 0
    paid_until_s: float | None = None


def bill(entry: Entry, bill_from: BillFrom, now_s: float) -> Bill:
    """Return what has been billed up to now.

    A boot that failed costs nothing. A unit that would start in the moment in which the host goes is not
    billed, but the first one is in any case. On a clock that is before the start, the first one has started.

    Args:
        entry: The lease.
        bill_from: When its first unit starts: `ready` (nothing is billed before), or `request`.
        now_s: Present time, s since 1970.
    """
    start_s = entry.ready_at_s if bill_from == "ready" else entry.leased_at_s
    if start_s is None or entry.failed:
        return Bill()
    if entry.ended_at_s is None:
        units = math.floor((now_s - start_s) / entry.billing_unit_s + _ROUNDING) + 1
    else:
        units = math.ceil((entry.ended_at_s - start_s) / entry.billing_unit_s - _ROUNDING)
    units = max(units, 1)
    return Bill(units, start_s + units * entry.billing_unit_s)
