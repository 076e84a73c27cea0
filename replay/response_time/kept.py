"""The folder of an experiment: its files, and the two small ones that a turn keeps beside its rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, TypeVar

from pydantic import BaseModel, Field, ValidationError

from replay.errors import DataError
from replay.output import read_json

if TYPE_CHECKING:
    from pathlib import Path

SETTINGS = "experiment.json"
SITES = "sites.toml"
TURNS = "turns"
DONE = "done.json"
PLANNED = "planned.json"
EXPECTED = "expected"
REPORT = "report"

_Model = TypeVar("_Model", bound=BaseModel)


class Done(BaseModel):
    """What a turn was; written when everything else of the turn is there.

    Attributes:
        variant: Name of the strategy, or of Storm's own scheduler.
        repetition: From 1.
        scheduler: The cluster's scheduler.
        strategy: Strategy of the scheduler stormplace; None for Storm's own.
        rate: Rows per second of the paced rows.
        fast_rows: Rows before them.
        warm_up_rows: Paced rows that do not count.
        measured_rows: Paced rows after those.
        busy: Fraction of the machine's processor time that was used while rows were fed.
        machine: The machine in a few words.
        date: UTC date.
        commit: Commit of the code.
    """

    variant: str
    repetition: Annotated[int, Field(ge=1)]
    scheduler: str
    strategy: str | None
    rate: Annotated[float, Field(gt=0)]
    fast_rows: Annotated[int, Field(ge=0)]
    warm_up_rows: Annotated[int, Field(ge=0)]
    measured_rows: Annotated[int, Field(ge=1)]
    busy: Annotated[float, Field(ge=0, le=1)]
    machine: str
    date: str
    commit: str


class Planned(BaseModel):
    """The round of the placement daemon that placed the query.

    Attributes:
        plan_ms: Time for planning the round.
        response_time_ms: R that the daemon expected, from the delays that were measured for it.
        objective: F.
        bound: Proved lower limit of F, or None.
        timed_out: Whether the clock had a say.
        status: The topology's status line.
        hosts: Host of each executor by its first task.
    """

    plan_ms: float
    response_time_ms: float | None
    objective: float | None
    bound: float | None
    timed_out: bool
    status: str
    hosts: dict[int, str]


def finished(turn: Path) -> bool:
    """Whether a turn has come to its end."""
    return (turn / DONE).is_file()


def finished_turns(folder: Path) -> list[Path]:
    """Return the folders of an experiment's finished turns, by name.

    Raises:
        DataError: The folder is no experiment's, or no turn has come to its end.
    """
    if not (folder / SETTINGS).is_file():
        raise DataError(f"{folder}: no experiment's folder ({SETTINGS} is missing)")
    turns = sorted(turn for turn in (folder / TURNS).glob("*") if finished(turn))
    if not turns:
        raise DataError(f"{folder / TURNS}: no turn has come to its end")
    return turns


def read_model(model: type[_Model], path: Path) -> _Model:
    """Read a JSON file of a known form.

    Raises:
        DataError: The file is missing or of another form.
    """
    try:
        return model.model_validate(read_json(path))
    except ValidationError as error:
        fault = error.errors()[0]
        raise DataError(f"{path}: {'.'.join(str(part) for part in fault['loc'])}: {fault['msg']}") from error
