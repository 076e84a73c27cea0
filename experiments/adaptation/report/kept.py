"""The files that a scenario of the adaptation experiment keeps beside its rows: events and planned rounds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, TypeAdapter, ValidationError

from experiments.folder_content import first_fault
from replay.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

EVENTS = "events.json"
ROUNDS = "rounds.jsonl"

Scenario = Literal["changes", "noise", "stable"]
EventKind = Literal["delay", "isolate", "rejoin", "noise", "restore"]
Source = Literal["measured", "coordinates", "site median", "site table", "uniform"]
_Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]
_Milliseconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Event(BaseModel):
    """A change of the network.

    Attributes:
        time_s: Unix time at which it was done.
        kind: `delay`: one delay was changed; `isolate`: a site lost its links to all others; `rejoin`: it got
            them back; `noise`: all delays between sites were drawn anew; `restore`: what still differed
            was put back as the site file has it.
        sites: Those concerned: the two ends of the delay, the isolated site, all sites of the drawn delays,
            those of the delays that were put back.
        delay_ms: The new delay, one way; None where there is not one.
        delays: Every pair of sites whose delay was set, with the new delay, ms, one way.
        text: What was done, for a person.
    """

    model_config = ConfigDict(frozen=True)
    time_s: _Seconds
    kind: EventKind
    sites: tuple[str, ...]
    delay_ms: _Milliseconds | None = None
    delays: tuple[tuple[str, str, _Milliseconds], ...] = ()
    text: str


class PlannedRound(BaseModel):
    """One round of the placement daemon that knew the query.

    Attributes:
        time_s: Unix time at which the round began.
        plan_ms: Time for planning it.
        timed_out: Whether the clock had a say.
        assigned: Whether it gave the query new slots.
        executors_moved: Executors whose host is not the last one that they had; all of them in the first
            round that placed them.
        workers_moved: Workers that end or restart, as the plan says; 0 without new slots.
        executors_restarted: Executors of these workers; None where the plan does not say.
        pause_s: How long what restarts was expected to stand still; None, as what follows, if nothing was
            expected.
        pause_source: What that rests on.
        replayed_tuples: Tuples that sources were expected to send again.
        move_cost: Price of what hosts load, in units of the cost.
        payback_s: After so long the plan was expected to have paid that.
        gain: Fraction of the objective that the plan saves; 0 without new slots and for a first placement.
        status: The query's status line; empty if the round said nothing about it.
        response_time_ms: R that the daemon expected; None if the round did not evaluate it.
        objective: F, None likewise.
        bound: Proved lower limit of F, None without proof.
        hosts: Host of each executor by its first task once the plan is carried out; None if it has none.
        delays: One-way delays between two different sites as the planner saw them, without the overhead of a
            hop: both sites, ms (median over pairs of hosts), and where it comes from. Only sites that
            host or hosted an executor of the query in any round of the scenario, and home; pairs of
            which nothing is known are left out.
    """

    model_config = ConfigDict(frozen=True)
    time_s: _Seconds
    plan_ms: _Milliseconds
    timed_out: bool
    assigned: bool
    executors_moved: Annotated[int, Field(ge=0)]
    workers_moved: Annotated[int, Field(ge=0)]
    executors_restarted: Annotated[int, Field(ge=0)] | None = None
    pause_s: float | None = None
    pause_source: str | None = None
    replayed_tuples: float | None = None
    move_cost: float | None = None
    payback_s: float | None = None
    gain: float
    status: str
    response_time_ms: float | None
    objective: float | None
    bound: float | None
    hosts: dict[int, str | None]
    delays: tuple[tuple[str, str, _Milliseconds, Source], ...]


class ScenarioDone(BaseModel):
    """What a scenario was; written when everything else of it is there.

    Attributes:
        scenario: Its name.
        rate: Rows per second of the paced rows.
        fast_rows: Rows before them.
        paced_rows: Rows at that rate.
        home: The site where rows come from and results go; source and sink are pinned to its first host.
        sites: Names of all sites.
        settings: The experiment's settings, as `experiment.json` has them.
        busy: Share of the processors' time (0 to 1) that was used while the paced rows were fed.
        process_ends: How often each process of the lab ended unexpectedly from the submission to the end;
            supervisors of a site that is cut off do so by themselves.
        machine: The machine in a few words.
        date: UTC date.
        commit: Commit of the code.
        topology_id: Storm's id of the query.
        started_s: Unix time at which the paced rows began.
        ended_s: Unix time at which the last of them had been fed.
        faults: What the answers lack; empty if every row has one.
    """

    model_config = ConfigDict(frozen=True)
    scenario: Scenario
    rate: Annotated[float, Field(gt=0)]
    fast_rows: Annotated[int, Field(ge=0)]
    paced_rows: Annotated[int, Field(ge=1)]
    home: str
    sites: tuple[str, ...]
    settings: dict[str, JsonValue]
    busy: Annotated[float, Field(ge=0, le=1)]
    process_ends: dict[str, int] = {}
    machine: str
    date: str
    commit: str
    topology_id: str
    started_s: _Seconds
    ended_s: _Seconds
    faults: tuple[str, ...] = ()


_EVENTS = TypeAdapter(tuple[Event, ...])


def write_events(path: Path, events: Iterable[Event]) -> None:
    """Write what happened, in order.

    Raises:
        OSError: The file cannot be written.
    """
    path.write_bytes(_EVENTS.dump_json(tuple(events), indent=1) + b"\n")


def read_events(path: Path) -> tuple[Event, ...]:
    """Read what happened.

    Raises:
        DataError: The file is missing or of another form.
    """
    try:
        return _EVENTS.validate_json(_content(path))
    except ValidationError as error:
        raise DataError(f"{path}: {first_fault(error)}") from error


def write_rounds(path: Path, rounds: Iterable[PlannedRound]) -> None:
    """Write rounds, one JSON object a line.

    Raises:
        OSError: The file cannot be written.
    """
    path.write_text("".join(f"{each.model_dump_json()}\n" for each in rounds), encoding="utf-8")


def read_rounds(path: Path) -> tuple[PlannedRound, ...]:
    """Read rounds.

    Raises:
        DataError: The file is missing, or a line is of another form.
    """
    rounds = []
    for number, line in enumerate(_content(path).splitlines(), start=1):
        try:
            rounds.append(PlannedRound.model_validate_json(line))
        except ValidationError as error:
            raise DataError(f"{path}, line {number}: {first_fault(error)}") from error
    return tuple(rounds)


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise DataError(f"{path}: no such file") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from error
