"""How long placing the query took by what Storm's resource-aware scheduler says of itself."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pydantic import BaseModel

from experiments.folder_content import read_model
from replay.analysis.placement import PLACEMENT

if TYPE_CHECKING:
    from pathlib import Path

_SEARCH = re.compile(r"\(\d+ states? traversed in (\d+) ms\b")


class _Status(BaseModel):
    scheduler_status: str = ""


def search_ms(turn: Path) -> float | None:
    """Return the time for its search that the scheduler states in its status line, in whole ms.

    Args:
        turn: The turn's folder.

    Returns:
        ms; None if the status line states none, as those of Storm's other schedulers.

    Raises:
        DataError: The placement file is missing or malformed.
    """
    found = _SEARCH.search(read_model(_Status, turn / PLACEMENT).scheduler_status)
    return None if found is None else float(found[1])
