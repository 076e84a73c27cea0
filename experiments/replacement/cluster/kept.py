"""The files that a turn keeps beside its tuples: what was done to the lab, and what the turn was."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from experiments.folder_content import first_fault
from replay.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

EVENTS = "events.json"
INSTANCE = "instance.json"
FIRST_PLACEMENT = "first-placement.json"
PLAN = "plan.json"

EventKind = Literal["join", "drain", "undrain"]
_Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class LabEvent(BaseModel):
    """Something that was done to the lab while tuples came.

    Attributes:
        time_s: Unix time at which it was begun.
        kind: `join`: supervisor and agent of a host were started; `drain`, `undrain`: the command was called.
        took_s: Until it was done; of a drain, until the command returned.
        failure: Why it did not work; None if it did.
        text: What was done, for a person.
    """

    model_config = ConfigDict(frozen=True)
    time_s: _Seconds
    kind: EventKind
    took_s: _Seconds
    failure: str | None = None
    text: str


class ReplacementDone(BaseModel):
    """What a turn was; written when everything else of it is there.

    Attributes:
        variant: Its name.
        repetition: Which of them, from 1.
        rate: Tuples per second of the source.
        tuples: Tuples that are measured.
        busy: Share of the processors' time (0 to 1) that was used while tuples came.
        process_ends: How often each process of the lab ended unexpectedly.
        restarts_per_round: Executors that the daemon may restart in a round.
        machine: The machine in a few words.
        date: UTC date.
        commit: Commit of the code.
        topology_id: Storm's id of the topology.
    """

    model_config = ConfigDict(frozen=True)
    variant: str
    repetition: Annotated[int, Field(ge=1)]
    rate: Annotated[float, Field(gt=0)]
    tuples: Annotated[int, Field(ge=1)]
    busy: Annotated[float, Field(ge=0, le=1)]
    process_ends: dict[str, int] = {}
    restarts_per_round: int
    machine: str
    date: str
    commit: str
    topology_id: str


_EVENTS = TypeAdapter(tuple[LabEvent, ...])


def write_lab_events(path: Path, events: Iterable[LabEvent]) -> None:
    """Write what happened, in order.

    Raises:
        OSError: The file cannot be written.
    """
    path.write_bytes(_EVENTS.dump_json(tuple(events), indent=1) + b"\n")


def read_lab_events(path: Path) -> tuple[LabEvent, ...]:
    """Read what happened.

    Raises:
        DataError: The file is missing or of another form.
    """
    try:
        return _EVENTS.validate_json(path.read_bytes())
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}") from error
    except ValidationError as error:
        raise DataError(f"{path}: {first_fault(error)}") from error
