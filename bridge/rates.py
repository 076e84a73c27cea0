"""Measured rates of topologies: which readings are believed, and why the others are not."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, eq=False)
class MeasuredRates:
    """What the rates collector measured of one topology.

    Attributes:
        age_s: Time since it was published, s.
    """

    age_s: float
