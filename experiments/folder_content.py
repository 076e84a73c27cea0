"""The folder of an experiment: what the folders of all experiments have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel, ValidationError

from replay.errors import DataError
from replay.output import read_json

if TYPE_CHECKING:
    from pathlib import Path

SETTINGS = "experiment.json"
SITES = "sites.toml"
TURNS = "turns"
DONE = "done.json"
EXPECTED = "expected"
REPORT = "report"

KIND = "experiment"
RESPONSE_TIME = "response-time"
ADAPTATION = "adaptation"
REPLACEMENT = "replacement"
LAB_TIERS = "lab-tiers"
ELASTICITY = "elasticity"

_Model = TypeVar("_Model", bound=BaseModel)


class KeptDifference(BaseModel):
    """A difference between answers and those expected, in one sentence, and from which row on."""

    row: int | None = None
    sentence: str


class KeptVerdict(BaseModel):
    """What `verdict.json` says of a run's answers."""

    equal: bool
    differences: list[KeptDifference]

    @property
    def first(self) -> str | None:
        """The first difference; None if there is none."""
        return None if self.equal else self.differences[0].sentence


def experiment_kind(folder: Path) -> str:
    """Return which experiment a folder belongs to; a folder that does not say is one of response times.

    Raises:
        DataError: The folder is no experiment's.
    """
    if not (folder / SETTINGS).is_file():
        raise DataError(f"{folder}: no experiment's folder ({SETTINGS} is missing)")
    return str(read_json(folder / SETTINGS).get(KIND, RESPONSE_TIME))


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
        raise DataError(f"{path}: {first_fault(error)}") from error


def first_fault(error: ValidationError) -> str:
    """Say what is wrong first: place and rule."""
    fault = error.errors()[0]
    place = ".".join(str(part) for part in fault["loc"])
    return f"{place}: {fault['msg']}" if place else fault["msg"]
