"""What Storm's own keys say about the placement of one topology."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from bridge.faults import phrases
from bridge.wishes.ras_constraints import CONSTRAINTS, SPREAD, Constraints, read_constraints
from bridge.wishes.setting_texts import LARGEST, read_settings, shown

if TYPE_CHECKING:
    from collections.abc import Collection

DEFAULT_HEAP_MB = 768.0
DEFAULT_PRIORITY = 29


def _number(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < LARGEST:
        raise ValueError(f"must be a number, got {shown(value)}")
    return value


_Amount = Annotated[float, Field(gt=0), BeforeValidator(_number)]


class StormSettings(BaseModel):
    """Keys that Storm's resource-aware scheduler reads too, and means the same by.

    Attributes:
        heap_mb: Most heap of a worker, MB; an executor that needs more alone gets a worker of its own.
        priority: Topologies of a lower number come first.
        one_executor_per_worker: Whether each executor gets a worker of its own.
        one_component_per_worker: Whether a worker holds executors of one component only.
        favored: Hosts that are filled first.
        unfavored: Hosts that are filled last.
        machines: Hosts that the topology wants for itself, 0 if it shares hosts with others.
        constraints: Components that are kept apart, and limits of executors on one node.
        faults: One phrase per bad value; each such key has its default.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    heap_mb: _Amount = Field(default=DEFAULT_HEAP_MB, alias="topology.worker.max.heap.size.mb")
    priority: Annotated[int, Field(ge=0), BeforeValidator(_number)] = Field(
        default=DEFAULT_PRIORITY, alias="topology.priority"
    )
    one_executor_per_worker: bool = Field(default=False, alias="topology.ras.one.executor.per.worker")
    one_component_per_worker: bool = Field(default=False, alias="topology.ras.one.component.per.worker")
    favored: tuple[str, ...] = Field(default=(), alias="topology.scheduler.favored.nodes")
    unfavored: tuple[str, ...] = Field(default=(), alias="topology.scheduler.unfavored.nodes")
    machines: Annotated[int, Field(ge=1), BeforeValidator(_number)] = Field(
        default=0, alias="topology.isolate.machines"
    )
    constraints: Constraints = Constraints()
    faults: tuple[str, ...] = ()


_ALIASES = [field.alias for field in StormSettings.model_fields.values() if field.alias]
KEYS = tuple(sorted([CONSTRAINTS, SPREAD, *_ALIASES]))
"""Every key that is read."""


def parse_storm_settings(text: str | None, components: Collection[str] = ()) -> StormSettings:
    """Read Storm's keys; a bad value is named in `faults`, and its key keeps the default.

    Args:
        text: JSON object of Storm's keys; None from a shim that sends none.
        components: Names of the topology's components.
    """
    given, unread = read_settings(text, "Storm's")
    given = {key: value for key, value in given.items() if value is not None}
    constraints, faults = read_constraints(given.pop(CONSTRAINTS, None), given.pop(SPREAD, None), components)
    try:
        settings = StormSettings.model_validate(given)
    except ValidationError as error:
        bad = {str(fault["loc"][0]) for fault in error.errors(include_url=False)}
        good = {key: value for key, value in given.items() if key not in bad}
        settings, faults = StormSettings.model_validate(good), (*phrases(error), *faults)
    return settings.model_copy(update={"constraints": constraints, "faults": (*unread.values(), *faults)})
