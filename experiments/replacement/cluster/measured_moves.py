"""What the daemon measured of its moves, from its log: one line per plan, some minutes after it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, TypeAdapter, ValidationError

from experiments.folder_content import first_fault
from replay.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

MEASURED = "measured-moves.json"
LOG = "daemon.out"
_EVENT = "move measured"


class _Pause(BaseModel):
    predicted: float
    measured: float


class MeasuredMove(BaseModel):
    """A plan that restarted executors.

    Attributes:
        topology: Storm's id of the topology.
        planned_unix_s: Unix time of the round that made it.
        pause_s: Time from the plan until its executors worked, s, predicted and measured.
        workers_ran_s: Time from the plan until the last of its workers ran, s; None in logs of before.
        pause_until: `work`; or `start`, where no executor was seen to work: then the pause is until workers
            ran, as it always is in logs of before.
    """

    topology: str
    planned_unix_s: float
    pause_s: _Pause
    workers_ran_s: float | None = None
    pause_until: Literal["work", "start"] = "start"


_MOVES = TypeAdapter(tuple[MeasuredMove, ...])


def logged_moves(log: Path, topology_id: str) -> tuple[MeasuredMove, ...]:
    """Return what the daemon measured of a topology's moves; what it could not measure is left out.

    Raises:
        DataError: A line about a measured move is of another form.
    """
    try:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines() if log.is_file() else []
        return tuple(
            MeasuredMove.model_validate_json(line)
            for line in lines
            if f'"{topology_id}"' in line and f'"event": {json.dumps(_EVENT)}' in line
        )
    except ValidationError as error:
        raise DataError(f"{log}: {first_fault(error)}") from error


def write_measured_moves(path: Path, moves: Iterable[MeasuredMove]) -> None:
    """Write them.

    Raises:
        OSError: The file cannot be written.
    """
    path.write_bytes(_MOVES.dump_json(tuple(moves), indent=1) + b"\n")


def read_measured_moves(path: Path) -> tuple[MeasuredMove, ...]:
    """Read what `write_measured_moves` wrote.

    Raises:
        DataError: The file is missing or of another form.
    """
    try:
        return _MOVES.validate_json(path.read_bytes())
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}") from error
    except ValidationError as error:
        raise DataError(f"{path}: {first_fault(error)}") from error
