"""The choices that query 2's text leaves open, as named settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class AreaChoices:
    """How query 2 is read; the defaults are the project's choice.

    Attributes:
        area_grid: `centred`: area 1.1 lies around the challenge's point; `corner`: the 500 m cells are cut in
            four.
        median: `exact`: of an even number of trips the mean of the middle two; `cents`: that, cut to whole
            cents.
        idle_areas: An area with an empty taxi and no trip is `hidden`, or listed with a profit of `zero`.
        negative_profit: A trip whose fare + tip is below zero is `kept`, or `ignored` for the profit.
        q2_emit: An output row is due when the ten `areas` or their order change, or also when their `values`
            do.
    """

    area_grid: Literal["centred", "corner"] = "centred"
    median: Literal["exact", "cents"] = "exact"
    idle_areas: Literal["hidden", "zero"] = "hidden"
    negative_profit: Literal["kept", "ignored"] = "kept"
    q2_emit: Literal["areas", "values"] = "areas"
