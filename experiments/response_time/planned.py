"""Finds in the daemon's records the round that placed a topology."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from bridge.record.record import read_records
from bridge.wire.encoding import decode_request, decode_response
from bridge.wire.messages import Decision
from experiments.lab_steps import PLACEMENT, StepError
from replay.analysis.kept_turn import Planned

if TYPE_CHECKING:
    from pathlib import Path


def planned_as_it_ran(label: str, folder: Path, records: Path) -> Planned:
    """Return the round that placed the topology of a turn, and see that it ran where that round put it.

    Args:
        label: The turn.
        folder: Its folder.
        records: Folder of the daemon's records; it may be missing.

    Raises:
        StepError: It ran elsewhere: the plan came too late, say, and Storm's own scheduler placed it.
        bridge.record.record.RecordError: The records cannot be read.
    """
    ran = json.loads((folder / PLACEMENT).read_text(encoding="utf-8"))
    planned = find_planned(records, ran["id"])
    if planned is None:
        raise StepError(f"{label}: the placement daemon has no record of placing {ran['id']}")
    for executor in ran["executors"]:
        expected = planned.hosts.get(executor["first_task"], executor["host"])
        if executor["host"] != expected:
            raise StepError(
                f"{label}: {executor['component']} ran on {executor['host']}, planned was {expected}; "
                f"Nimbus says: {ran.get('scheduler_status', '')}"
            )
    return planned


def find_planned(records: Path, topology_id: str) -> Planned | None:
    """Return the first round that gave a topology its slots, or None if no round did.

    Args:
        records: Folder of the daemon's records; it may be missing.
        topology_id: Storm's id of the topology.

    Raises:
        bridge.record.record.RecordError: The records cannot be read.
    """
    if not records.is_dir():
        return None
    for record in read_records(records):
        for plan in decode_response(record.response).plans:
            if plan.topology_id == topology_id and plan.decision is Decision.ASSIGN:
                request = decode_request(record.request)
                topology = next(each for each in request.topologies if each.id == topology_id)
                return Planned(
                    plan_ms=record.timings_ms["plan"],
                    response_time_ms=plan.response_time_ms,
                    objective=plan.objective,
                    bound=plan.bound,
                    timed_out=record.timed_out,
                    status=plan.status,
                    hosts={
                        task: request.supervisors[supervisor].host
                        for task, supervisor in zip(
                            topology.executor_first_task, plan.executor_supervisor, strict=True
                        )
                    },
                )
    return None
