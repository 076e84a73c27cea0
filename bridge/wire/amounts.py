"""Amounts of resources: finite numbers from 0 on. What is none is named with its place."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from bridge.wire.contract import WireError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bridge.wire.messages import Supervisor


def is_amount(value: float) -> bool:
    """Whether a number can be an amount."""
    return math.isfinite(value) and value >= 0


def check_amounts(values: Sequence[float] | None, place: str) -> None:
    """Check a list of amounts.

    Args:
        values: The numbers; None is as good as an empty list.
        place: Where they stand in the message.

    Raises:
        WireError: One of them is no amount; with its place.
    """
    # Two passes in C, as there are as many as executors; one that is none makes its sum no number.
    if not values or (math.isfinite(sum(values)) and min(values) >= 0):
        return
    for index, value in enumerate(values):
        if not is_amount(value):
            raise WireError(f"{place}[{index}]: {value:g} is no amount")


def with_amounts(supervisor: Supervisor, names: Sequence[str], faults: list[str]) -> Supervisor:
    """Return a supervisor whose capacities are amounts: what is none counts as not stated.

    Args:
        supervisor: The supervisor.
        names: Resources beside CPU and memory, parallel to its own if it has any.
        faults: Gets a phrase that names those that are none.
    """
    own = supervisor.resources or ()
    stated = [
        ("CPU", supervisor.cpu_percent),
        ("memory", supervisor.memory_mb),
        *zip(names, own, strict=False),
    ]
    bad = [f"{name} ({value:g})" for name, value in stated if not is_amount(value)]
    if not bad:
        return supervisor
    faults.append(f"capacities of supervisor {supervisor.id} are no amounts: {', '.join(bad)}")
    cpu_percent, memory_mb, *others = (value if is_amount(value) else 0.0 for _, value in stated)
    resources = None if supervisor.resources is None else tuple(others)
    return replace(supervisor, cpu_percent=cpu_percent, memory_mb=memory_mb, resources=resources)
