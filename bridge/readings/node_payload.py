"""The content of a host's reading: which fields are read, and within which bounds they are possible."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import from_json
from typing_extensions import TypedDict

# No network has delays of a minute; what is further away would drown all others in rounding errors.
LARGEST_DELAY_MS = 60_000.0
_Finite = Annotated[float, Field(allow_inf_nan=False)]
_Position = Annotated[float, Field(ge=-LARGEST_DELAY_MS, le=LARGEST_DELAY_MS, allow_inf_nan=False)]
_DelayMs = Annotated[float, Field(ge=0, le=LARGEST_DELAY_MS, allow_inf_nan=False)]
_NotNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]
_Fraction = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class LinkPayload(TypedDict):
    """A direct link to a peer; thousands arrive in a round, so that they stay plain dictionaries."""

    __pydantic_config__ = ConfigDict(strict=True, extra="ignore")  # type: ignore[misc]  # read by pydantic
    delay_ms: _DelayMs
    age_s: _NotNegative
    delay_age_s: NotRequired[_NotNegative]
    availability: NotRequired[_Fraction]


class NodePayload(BaseModel):
    """What of a host's reading the planner needs; all else is ignored.

    So a later agent may add fields without changing the version, and an impossible load costs nothing: it is
    read by `bridge.readings.vitals` alone.
    """

    model_config = ConfigDict(strict=True, extra="ignore")
    version: Literal[1]
    time: _Finite
    sequence: int
    lifetime_s: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    host: Annotated[str, Field(min_length=1)]
    site: Annotated[str, Field(min_length=1)] | None = None
    coordinate: Annotated[list[_Position], Field(min_length=1, max_length=16)]
    height: _DelayMs
    error: _NotNegative
    availability: _Fraction
    probe: str | None = None
    links: dict[str, LinkPayload] | None = None


def parse_node(content: bytes) -> tuple[NodePayload, tuple[str, ...]]:
    """Read the content of a znode; impossible links are left out, all other faults cost the whole reading.

    Returns:
        What was read, and one phrase per impossible link.

    Raises:
        ValidationError: The content is not JSON or not a possible reading of a known version.
    """
    try:
        return NodePayload.model_validate_json(content), ()
    except ValidationError as error:
        faults = error.errors(include_url=False, include_context=False, include_input=False)
        if any(fault["loc"][:1] != ("links",) for fault in faults):
            raise
        data: dict[str, Any] = from_json(content)
        bad: dict[str, str] = {}
        for fault in faults:
            place = fault["loc"][1:]
            if not place:
                del data["links"]
                return NodePayload.model_validate(data), (fault["msg"],)
            field = "".join(f" {part}" for part in place[1:])
            bad.setdefault(str(place[0]), f"to {place[0]}:{field} {fault['msg']}")
        data["links"] = {peer: link for peer, link in data["links"].items() if peer not in bad}
        return NodePayload.model_validate(data), tuple(bad.values())
