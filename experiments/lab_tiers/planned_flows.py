"""What the placement daemon expected to pass the uplinks, from its recorded rounds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, ConfigDict, Field

from bridge.problem.links.traffic import Sending, traffic
from bridge.problem.occupancy import RoundState
from bridge.problem.task import make_task
from bridge.record.record import RecordError, read_records
from bridge.round.carrying_out import carried_out
from bridge.round.round_data import gather_data
from bridge.settings_file import SettingsError, settings_from_json
from bridge.wire.contract import WireError
from bridge.wire.encoding import decode_request, decode_response
from bridge.wire.messages import UNASSIGNED

if TYPE_CHECKING:
    from pathlib import Path

    from bridge.record.record import RoundRecord

FLOWS = "flows.json"
RATES_OF_S = 60.0
"""The collector measures rates over so much time."""


class PlannedFlows(BaseModel):
    """What a round expected of a topology where it runs by then.

    Attributes:
        time_s: Unix time of the round.
        measured: Whether by measured rates; else by declared ones.
        bytes_per_s: Into and out of each site, by its name.
    """

    model_config = ConfigDict(frozen=True)
    time_s: Annotated[float, Field(ge=0)]
    measured: bool
    bytes_per_s: dict[str, Annotated[float, Field(ge=0)]]


def planned_flows(
    records: Path, topology_id: str, submitted_s: float, begin_s: float, end_s: float
) -> PlannedFlows | None:
    """Return what the last round with steady rates expected; else the first one, by declared rates.

    Args:
        records: Folder of the daemon's records; it may be missing.
        topology_id: Storm's id of the topology.
        submitted_s: Unix time before which the topology was not there.
        begin_s: Unix time at which rates became steady.
        end_s: Unix time until which they were.

    Raises:
        bridge.record.record.RecordError: The records cannot be read.
    """
    if not records.is_dir():
        return None
    seen = [record for record in read_records(records) if submitted_s <= record.time_s <= end_s]
    steady = [each for each in seen if each.time_s >= begin_s + RATES_OF_S]
    for record in sorted(steady, key=lambda each: each.time_s, reverse=True):
        found = _flows(record, topology_id)
        if found is not None and found.measured:
            return found
    for record in sorted(seen, key=lambda each: each.time_s):
        found = _flows(record, topology_id)
        if found is not None:
            return found
    return None


def _flows(record: RoundRecord, topology_id: str) -> PlannedFlows | None:
    """Return what a round expected of a topology by its own book; None if it does not run whole by then."""
    try:
        request = carried_out(decode_request(record.request), decode_response(record.response).plans)
        settings = settings_from_json(record.settings_json)
    except (WireError, SettingsError) as error:
        raise RecordError(f"round at {record.time_s:.3f}: {error}") from error
    ids = [each.id for each in request.topologies]
    if topology_id not in ids:
        return None
    index = ids.index(topology_id)
    if UNASSIGNED in request.topologies[index].executor_supervisor:
        return None
    data = gather_data(request, settings)
    state = RoundState(request, data.hosts, settings.capacity.resources)
    rates = data.rates.by_topology.get(topology_id)
    task = make_task(state, index, data.wishes[index], settings.plan, rates)
    links = data.site_links
    # the last position of the book's sites is for executors without a host, of which there is none
    site = links.site[[host for host in state.hosts_of(state.assignment(index)) if host is not None]]
    passing = traffic(Sending(task.flows, task.terminals), site, links).of_uplinks(len(links.names))
    return PlannedFlows(
        time_s=record.time_s,
        measured=rates is not None,
        bytes_per_s=dict(zip(links.names, passing.tolist()[: len(links.names)], strict=True)),
    )
