"""The four layouts of lines that are known, and how a file's own is recognised."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from replay.errors import DataError
from replay.trips.table import AMOUNTS, COORDINATES

if TYPE_CHECKING:
    from collections.abc import Sequence

TIMES = ("pickup_datetime", "dropoff_datetime")
NUMBERS = ("trip_time_in_secs", "trip_distance", *COORDINATES, *AMOUNTS)
NAMES = ("medallion", "hack_license", "payment_type")

_FIRST_LINES = 100
_TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d")
_SENML = re.compile(r"-?\d+,\s*\{")


@dataclass(frozen=True)
class Layout:
    """How a line of comma-separated text is read.

    Attributes:
        name: As the user names it.
        description: What it is, for the user.
        columns: Names of the columns; those in `TIMES`, `NUMBERS` and `NAMES` mean what they mean in the
            challenge's data, the others are read as text.
        header: The first line, if the layout has one; a blank line behind it belongs to it.
    """

    name: str
    description: str
    columns: tuple[str, ...]
    header: str | None = None


CHALLENGE = Layout(
    name="challenge",
    description="the challenge's 17 columns",
    columns=(
        *("medallion", "hack_license", *TIMES, "trip_time_in_secs", "trip_distance", *COORDINATES),
        *("payment_type", *AMOUNTS),
    ),
)
_AGENCY_COLUMNS = (
    *("vendor_id", *TIMES, "passenger_count", "trip_distance", *COORDINATES[:2], "rate_code"),
    *("store_and_fwd_flag", *COORDINATES[2:], "payment_type", *AMOUNTS),
)
AGENCY = Layout(
    name="agency",
    description="the agency's schema with its header",
    columns=_AGENCY_COLUMNS,
    header=",".join(_AGENCY_COLUMNS),
)
EVENTS = Layout(
    name="events",
    description="start and end events with 11 columns",
    columns=(
        *("ride", "event", "dropoff_datetime", "pickup_datetime", *COORDINATES),
        *("passengers", "taxi", "driver"),
    ),
)
SENML = Layout(name="senml", description="lines `milliseconds,{SenML}`", columns=CHALLENGE.columns)

LAYOUTS = {layout.name: layout for layout in (CHALLENGE, AGENCY, EVENTS, SENML)}


def recognise(name: str, lines: Sequence[str]) -> Layout:
    """Return the layout of a file: that of its first line that has one.

    Args:
        name: The file, for the refusal.
        lines: The file's first lines.

    Raises:
        DataError: None of the first 100 lines has a known layout.
    """
    for line in lines[:_FIRST_LINES]:
        layout = _layout_of(line)
        if layout is not None:
            return layout
    known = "; ".join(f"{layout.name}: {layout.description}" for layout in LAYOUTS.values())
    raise DataError(
        f"{name}: line 1: of none of the known formats ({known}), and so are the lines behind it; "
        "--format names one"
    )


def _layout_of(line: str) -> Layout | None:
    fields = line.strip("\r\n").split(",")
    if AGENCY.header is not None and ",".join(field.strip() for field in fields) == AGENCY.header:
        return AGENCY
    if _SENML.match(line):
        return SENML
    for layout in (CHALLENGE, AGENCY, EVENTS):
        place = layout.columns.index("dropoff_datetime")
        if len(fields) == len(layout.columns) and _TIME.fullmatch(fields[place]):
            return layout
    return None
