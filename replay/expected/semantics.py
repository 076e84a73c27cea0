"""How the queries take the points that the challenge's text leaves open.

Each point is a setting with a name; the first value is this project's choice, the others are those of other
implementations. docs/design/021 explains them.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from replay.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterable

CHOICES: dict[str, tuple[str, ...]] = {
    "nulls": ("per-cell", "per-route"),
    "pickup": ("column", "computed"),
    "area-grid": ("centred", "corner"),
    "median": ("exact", "cents"),
    "idle-areas": ("hidden", "zero"),
    "negative-profit": ("kept", "ignored"),
    "q2-emit": ("areas", "values"),
    "profitability": ("exact", "cents"),
    "equal-counts": ("freshest-trip", "latest-change"),
    "expiry": ("with-rows", "own-rows"),
}


@dataclass(frozen=True)
class Semantics:
    """One value for each setting of `CHOICES`.

    Attributes:
        nulls: `NULL`s for a missing rank: one for each cell and value, or one.
        pickup: The printed pick-up time: the column, or drop-off minus trip time.
        area_grid: Areas of 250 m around the challenge's point, or the cells of 500 m cut in four.
        median: Of an even number of trips: the mean of the middle two, or that cut to whole cents.
        idle_areas: An area with an empty taxi and no trip: not listed, or listed with profit 0.
        negative_profit: A trip whose fare and tip come to less than zero: counts for the profit, or not.
        q2_emit: Query 2 writes a row when the ten areas change, or also when one of their values does.
        profitability: Exact, or cut to whole cents towards zero before areas are ranked.
        equal_counts: Of routes with equal counts the one with the freshest trip is first, or the one whose
            count changed last, gains and losses alike.
        expiry: What leaves the windows between two rows shows in the output of the next one, or in output
            rows of its own too.
    """

    nulls: str = "per-cell"
    pickup: str = "column"
    area_grid: str = "centred"
    median: str = "exact"
    idle_areas: str = "hidden"
    negative_profit: str = "kept"
    q2_emit: str = "areas"
    profitability: str = "exact"
    equal_counts: str = "freshest-trip"
    expiry: str = "with-rows"

    def document(self) -> dict[str, str]:
        """Return the settings by their names, as `parse` reads them."""
        return {key.replace("_", "-"): value for key, value in asdict(self).items()}


def parse(settings: Iterable[str]) -> Semantics:
    """Read settings of the form KEY=VALUE.

    Raises:
        DataError: A setting is malformed, unknown, given twice, or has no such value.
    """
    chosen: dict[str, str] = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals:
            raise DataError(f"semantics: {setting}: expected KEY=VALUE")
        if key not in CHOICES:
            raise DataError(f"semantics: {key}: no such setting; there are {', '.join(CHOICES)}")
        if value not in CHOICES[key]:
            raise DataError(f"semantics: {key}: {value} is none of {', '.join(CHOICES[key])}")
        if key in chosen:
            raise DataError(f"semantics: {key}: given twice")
        chosen[key] = value
    return Semantics(**{key.replace("-", "_"): value for key, value in chosen.items()})
