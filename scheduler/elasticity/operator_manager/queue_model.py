"""Executors of a component as equal queues (M/M/1), each with its part of the arrivals."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def response_ms(rate: float, executors: int, service_rate: float) -> float:
    """Return R = 1 / (mu - rate / k), ms; infinite where executors cannot keep up.

    Args:
        rate: Tuples that arrive per second.
        executors: k.
        service_rate: mu, tuples per second that one executor can process (> 0).
    """
    spare = service_rate - rate / executors
    return 1000.0 / spare if spare > 0.0 else math.inf


def least_executors(rate: float, service_rate: float, response_max_ms: float, most: int) -> int | None:
    """Return the least number of executors that keeps a bound; None if even the most do not.

    Args:
        rate: Tuples that arrive per second.
        service_rate: mu, tuples per second (> 0).
        response_max_ms: The bound, ms.
        most: Largest number that is allowed.
    """
    numbers = range(1, most + 1)
    return next((k for k in numbers if response_ms(rate, k, service_rate) <= response_max_ms), None)


def bounds_ms(response_max_ms: float, network_ms: float, service_rates: Sequence[float]) -> tuple[float, ...]:
    """Return what each component of a path may take, ms: the bound less the network, by their service times.

    Args:
        response_max_ms: R_max of the path, ms.
        network_ms: Delays of the network along the path, ms.
        service_rates: (n,) mu of each component of the path, tuples per second.
    """
    total = sum(1.0 / each for each in service_rates)
    return tuple((response_max_ms - network_ms) / each / total for each in service_rates)
