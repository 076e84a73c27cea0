"""Made-up lines with everything that can be wrong in them, and many ties."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random

WEST, NORTH = -74.913585, 41.474937
EAST_DEGREES, SOUTH_DEGREES = 0.005986 / 2, 0.004491556 / 2

STEPS_S = (0, 0, 0, 0, 1, 30, 60, 60, 60, 299, 300, 899, 900, 901, 1_799, 1_800)
AMOUNTS = ("0", "0.00", "3.5", "3.50", "4.00", "4.25", "10.0", "0.005", "0.015", "-2.5", "-8", "52")
BAD_AMOUNTS = ("", "x", "nan", "inf", "-inf")


def messy_lines(chance: random.Random, rows: int, *, taxis: int = 20, areas: int = 5) -> list[str]:
    """Lines in order of their drop-offs but for a few, most of them in a square of `areas` x `areas`."""
    time = datetime(2013, 1, 1, tzinfo=UTC)
    lines = []
    for _ in range(rows):
        time += timedelta(seconds=chance.choice(STEPS_S))
        lines.append(_line(chance, time, taxis, areas))
    return lines


def _line(chance: random.Random, time: datetime, taxis: int, areas: int) -> str:
    dropoff = time - timedelta(seconds=chance.choice([0] * 30 + [1, 600]))
    trip_s = chance.randint(0, 3_000)
    places = [*_place(chance, areas), *_place(chance, areas)]
    card = chance.random() < 0.4
    tip = chance.choice(AMOUNTS) if card else "0.00"
    fields = [
        *(f"M{chance.randrange(taxis)}", "H"),
        *(f"{dropoff - timedelta(seconds=trip_s):%Y-%m-%d %H:%M:%S}", f"{dropoff:%Y-%m-%d %H:%M:%S}"),
        *(str(trip_s + chance.choice((0, 0, 0, 1))), "1.2"),
        *map(str, places),
        *("CRD" if card else "CSH", chance.choice(AMOUNTS), "0.5", "0.5", tip, "0", "9"),
    ]
    fault = chance.randrange(60)
    if fault == 0:
        fields[chance.choice((11, 14))] = chance.choice(BAD_AMOUNTS)
    elif fault == 1:
        fields[chance.randrange(6, 10)] = chance.choice(("0", "0.0", "-0"))
    elif fault == 2:
        fields[chance.randrange(6, 10)] = chance.choice(("", "abc", "nan", "1e400", "-200"))
    elif fault == 3:
        fields[chance.choice((2, 3))] = chance.choice(("", "2013-01-01", "2013-02-30 00:00:00"))
    elif fault == 4:
        fields = fields[: chance.randrange(len(fields))]
    return ",".join(fields)


def _place(chance: random.Random, areas: int) -> tuple[float, float]:
    """A place in the square, or at an edge of the grid where the two queries' grids differ."""
    east, south = chance.randrange(areas) + 0.3, chance.randrange(areas) + 0.3
    if not chance.randrange(40):
        east = chance.choice((-0.9, -0.6, -0.4, 599.4, 599.6))
    return WEST + east * EAST_DEGREES, NORTH - south * SOUTH_DEGREES
