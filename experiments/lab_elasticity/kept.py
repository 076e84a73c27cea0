"""What a turn of the experiment on elasticity keeps: its files, and what it was."""

from __future__ import annotations

from datetime import datetime  # noqa: TC003 - pydantic reads it
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from experiments.folder_content import first_fault
from experiments.lab_elasticity.variants import PolicyName  # noqa: TC001 - pydantic reads it
from experiments.lab_elasticity.workloads.workload import WorkloadName  # noqa: TC001 - pydantic reads it
from provisioning.loop.report import Savings  # noqa: TC001 - pydantic reads it
from provisioning.providers.entry import Entry  # noqa: TC001 - pydantic reads it
from replay.errors import DataError

if TYPE_CHECKING:
    from pathlib import Path

ITEMS, LOOKS, LOOP_LOG, LOOP_FOLDER = "items.json", "looks.jsonl", "elastic.log", "elastic"
LEASES, STATUS = f"{LOOP_FOLDER}/leases.json", f"{LOOP_FOLDER}/status.json"
OUTCOME, TIMELINE = "outcome.json", "timeline.csv"
_Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Items(BaseModel):
    """What was due and what came.

    Attributes:
        start_us: Start of what is measured, unix microseconds.
        due_us: When items were due, in the order of their numbers, likewise.
        arrived: Number and moment of all that came, in order.
    """

    model_config = ConfigDict(frozen=True)
    start_us: int
    due_us: tuple[int, ...]
    arrived: tuple[tuple[int, int], ...]


class Look(BaseModel):
    """What there was at a moment.

    Attributes:
        time_s: Unix time.
        hosts: Those that Nimbus knows.
        executors: That have a slot, by component.
        used: Hosts on which some of them are.
        waiting: Items that no source has taken, or rows without a result.
    """

    model_config = ConfigDict(frozen=True)
    time_s: _Seconds
    hosts: tuple[str, ...]
    executors: dict[str, int]
    used: tuple[str, ...]
    waiting: int


class ElasticityDone(BaseModel):
    """What a turn was; written when everything else of it is there.

    Attributes:
        policy: Its policy.
        repetition: Which of them, from 1.
        workload: What was scaled.
        load: Name of the profile.
        run_s: Measured seconds.
        bound_s: Response time above which an item is late, s.
        billing_unit_s: s.
        fixed_hosts: Hosts that were there from the start and are not leased.
        static_hosts: Hosts that the peak needs.
        kills_s: When the loop was killed, unix time.
        leaked: Hosts that had joined at the end, and that no lease knows.
        missing_tasks: Tasks without an executor at the end, by component.
        busy: Share of the processors' time (0 to 1) that was used.
        process_ends: How often each process of the lab ended unexpectedly.
        machine: The machine in a few words.
        date: UTC date.
        commit: Commit of the code.
    """

    model_config = ConfigDict(frozen=True)
    policy: PolicyName
    repetition: Annotated[int, Field(ge=1)]
    workload: WorkloadName = "sleeping"
    load: str
    run_s: Annotated[float, Field(gt=0)]
    bound_s: Annotated[float, Field(gt=0)]
    billing_unit_s: Annotated[float, Field(gt=0)]
    fixed_hosts: Annotated[int, Field(ge=1)]
    static_hosts: Annotated[int, Field(ge=1)]
    kills_s: tuple[float, ...] = ()
    leaked: tuple[str, ...] = ()
    missing_tasks: dict[str, int] = {}
    busy: Annotated[float, Field(ge=0, le=1)]
    process_ends: dict[str, int] = {}
    machine: str
    date: str
    commit: str

    @property
    def label(self) -> str:
        """Name of the turn."""
        return f"{self.policy}-{self.repetition}"


class _Book(BaseModel):
    leases: tuple[Entry, ...]


class _Mode(BaseModel):
    savings: Savings | None = None


class _Line(BaseModel):
    event: str
    timestamp: datetime
    expected_pause_s: float | None = None


_LOOK, _STATUS = TypeAdapter(Look), TypeAdapter(dict[str, _Mode])


def read_looks(path: Path) -> tuple[Look, ...]:
    """Read what was seen; a last line that was cut off is left out.

    Raises:
        DataError: The file is missing or of another form.
    """
    text = _text(path)
    try:
        return tuple(_LOOK.validate_json(line) for line in text.split("\n")[:-1])
    except ValidationError as error:
        raise DataError(f"{path}: {first_fault(error)}") from error


def read_leases(path: Path) -> tuple[Entry, ...]:
    """Read the leases of a turn; without a file there were none.

    Raises:
        DataError: The file is of another form.
    """
    if not path.is_file():
        return ()
    try:
        return _Book.model_validate_json(path.read_bytes()).leases
    except ValidationError as error:
        raise DataError(f"{path}: {first_fault(error)}") from error


def read_advice(path: Path) -> Savings | None:
    """Read from the loop's status what its advice would have saved; None if it was active.

    Raises:
        DataError: The file is of another form.
    """
    if not path.is_file():
        return None
    try:
        modes = _STATUS.validate_json(path.read_bytes())
    except ValidationError as error:
        raise DataError(f"{path}: {first_fault(error)}") from error
    return next((each.savings for each in modes.values() if each.savings is not None), None)


def read_changes(path: Path) -> tuple[tuple[float, float | None], ...]:
    """Return when Nimbus was asked for changes by the loop's log, unix time, and the pauses expected, s.

    What is no line of it is left out.
    """
    found = []
    for line in _text(path).splitlines() if path.is_file() else ():
        if '"event": "rebalanced"' not in line:
            continue
        try:
            read = _Line.model_validate_json(line)
        except ValidationError:
            continue  # a loop that was killed may have cut a line off
        found.append((read.timestamp.timestamp(), read.expected_pause_s))
    return tuple(found)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}") from error
