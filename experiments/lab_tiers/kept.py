"""What a turn of the experiment over three tiers was, beside what every turn of the taxi query keeps."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from replay.analysis.kept_turn import Done


class TiersDone(Done):
    """What a turn was; written when everything else of the turn is there.

    Attributes:
        overload: Whether rows came at the rate at which they do not fit through the uplink as they are.
        stated: Whether the settings of the placement daemon state bandwidths.
        together: How many rows came at once.
        started_s: Unix time at which rows at the rate began.
        fed_s: Unix time at which the last of them was fed.
    """

    overload: bool
    stated: bool
    together: Annotated[int, Field(ge=1)]
    started_s: Annotated[float, Field(ge=0)]
    fed_s: Annotated[float, Field(ge=0)]
