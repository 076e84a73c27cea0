"""The two small files that a turn of the response-time experiment keeps beside its rows."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

PLANNED = "planned.json"


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
        busy: Share of the processors' time (0 to 1) that was used while the paced rows were fed.
        process_ends: How often each process of the lab ended unexpectedly during the turn.
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
    process_ends: dict[str, int] = {}
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
