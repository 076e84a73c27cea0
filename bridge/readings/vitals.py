"""How a host is doing by its reading: what is shown to people and decides nothing."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import from_json

_NotNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]
_Fraction = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
_Count = Annotated[int, Field(ge=0)]
_DECIDES_NOTHING = ("load", "outages")


class Load(BaseModel):
    """Shares in use (0-1), runnable threads per core, worker slots; None where the agent tells nothing."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)
    cpu: _Fraction
    memory: _Fraction
    run_queue: _NotNegative | None = None
    slots_used: _Count | None = None
    slots: _Count | None = None


class Outages(BaseModel):
    """Number of outages, faded over the agent's horizon; s since the last one ended, None without any."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)
    count: _NotNegative
    last_s: _NotNegative | None = None


class Vitals(BaseModel):
    """The part of a reading that `bridge.readings.node_payload` does not need."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)
    error: _NotNegative
    load: Load | None = None
    outages: Outages | None = None


def parse_vitals(content: bytes) -> tuple[Vitals, tuple[str, ...]]:
    """Read them from a reading that `parse_node` accepts.

    Returns:
        What is possible, and one phrase per figure that is not; a table with such a figure is left out.

    Raises:
        ValidationError: `parse_node` would not accept it.
    """
    try:
        return Vitals.model_validate_json(content), ()
    except ValidationError as error:
        faults = error.errors(include_url=False, include_context=False, include_input=False)
        if any(not fault["loc"] or fault["loc"][0] not in _DECIDES_NOTHING for fault in faults):
            raise
        data: dict[str, Any] = from_json(content)
        for fault in faults:
            data.pop(str(fault["loc"][0]), None)
        phrases = tuple(f"holds impossible {_place(fault['loc'])}: {fault['msg']}" for fault in faults)
        return Vitals.model_validate(data), phrases


def _place(path: tuple[int | str, ...]) -> str:
    return ".".join(str(part) for part in path)
