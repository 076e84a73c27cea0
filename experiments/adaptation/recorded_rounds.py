"""The daemon's records as rounds of one topology: what was seen, what was decided, where executors run."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from bridge.network.delays import Provenance
from bridge.network.geography import survey
from bridge.record.record import RecordError, read_records
from bridge.settings_file import SettingsError, settings_from_json
from bridge.wire.contract import WireError
from bridge.wire.encoding import decode_request, decode_response
from bridge.wire.messages import UNASSIGNED, Decision, Price
from experiments.adaptation.report.kept import PlannedRound

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from bridge.network.geography import Geography
    from bridge.record.record import RoundRecord
    from bridge.wire.messages import PlanRequest, Topology, TopologyPlan
    from experiments.adaptation.report.kept import Source

_SOURCES: dict[Provenance, Source] = {
    Provenance.MEASURED: "measured",
    Provenance.COORDINATES: "coordinates",
    Provenance.SITE_MEDIAN: "site median",
    Provenance.SITE_TABLE: "site table",
    Provenance.UNIFORM: "uniform",
}

_NOTHING = Price(0.0, 0, 0)
"""What a round costs that moves nothing."""

_Cell = tuple[str, str, float, "Source"]
_Hosts = dict[int, str | None]


@dataclass(frozen=True)
class _Seen:
    """A record that knows the topology."""

    record: RoundRecord
    topology: Topology
    plan: TopologyPlan | None
    hosts: _Hosts
    network: _Network


@dataclass(frozen=True)
class _Network:
    """Delays of one round by names of sites, and the site of each host."""

    cells: tuple[_Cell, ...]
    site: dict[str, str]


def planned_rounds(records: Path, topology_id: str, home: str, since_s: float) -> tuple[PlannedRound, ...]:
    """Return the rounds that knew a topology, oldest first.

    Args:
        records: Folder of the daemon's records; it may be missing.
        topology_id: Storm's id of the topology.
        home: Site whose delays are kept whether executors run there or not.
        since_s: Unix time before which the topology was not there: older records are not looked at.

    Raises:
        RecordError: The records cannot be read.
    """
    if not records.is_dir():
        return ()
    seen = sorted(_find(records, topology_id, since_s), key=lambda each: each.record.time_s)
    in_use = {home} | {
        each.network.site[host]
        for each in seen
        for host in each.hosts.values()
        if host is not None and host in each.network.site
    }
    rounds = []
    last_known: dict[int, str] = {}
    for each in seen:
        placed = {task: host for task, host in each.hosts.items() if host is not None}
        moved = sum(last_known.get(task) != host for task, host in placed.items())
        last_known |= placed
        rounds.append(_round(each, moved, in_use))
    return tuple(rounds)


def _find(records: Path, topology_id: str, since_s: float) -> Iterator[_Seen]:
    for record in read_records(records):
        if record.time_s < since_s:
            continue
        try:
            request = decode_request(record.request)
            topology = next((each for each in request.topologies if each.id == topology_id), None)
            if topology is None:
                continue
            plans = decode_response(record.response).plans
            geography = survey(request, settings_from_json(record.settings_json), supervisors_known=True)
        except (WireError, SettingsError) as error:
            msg = f"{records}: round at {record.time_s:.3f}: {error}"
            raise RecordError(msg) from error
        plan = next((each for each in plans if each.topology_id == topology_id), None)
        yield _Seen(record, topology, plan, _hosts(request, topology, plan), _network(geography))


def _hosts(request: PlanRequest, topology: Topology, plan: TopologyPlan | None) -> _Hosts:
    """Return the host of each executor once the plan is carried out."""
    given = plan is not None and plan.decision is Decision.ASSIGN
    supervisors = plan.executor_supervisor if plan is not None and given else topology.executor_supervisor
    return {
        task: None if supervisor == UNASSIGNED else request.supervisors[supervisor].host
        for task, supervisor in zip(topology.executor_first_task, supervisors, strict=True)
    }


def _network(geography: Geography) -> _Network:
    names = geography.sites
    # the last index stands for hosts without a site
    cells = [
        (names[cell.sites[0]], names[cell.sites[1]], cell.delay_ms, _SOURCES[cell.source])
        for cell in geography.cells
        if cell.sites[1] < len(names) and cell.delay_ms is not None and cell.source is not None
    ]
    return _Network(tuple(cells), {host.name: host.site for host in geography.hosts if host.site is not None})


def _round(seen: _Seen, moved: int, in_use: set[str]) -> PlannedRound:
    record, plan = seen.record, seen.plan
    price = (None if plan is None else plan.price) or _NOTHING
    return PlannedRound(
        time_s=record.time_s,
        plan_ms=record.timings_ms["plan"],
        timed_out=record.timed_out,
        assigned=plan is not None and plan.decision is Decision.ASSIGN,
        executors_moved=moved,
        workers_moved=price.workers_moved,
        executors_restarted=price.executors_restarted,
        pause_s=price.pause_s,
        pause_source=price.pause_source,
        replayed_tuples=price.replayed_tuples,
        move_cost=price.move_cost,
        payback_s=price.payback_s,
        gain=price.gain,
        status="" if plan is None else plan.status,
        response_time_ms=None if plan is None else plan.response_time_ms,
        objective=None if plan is None else plan.objective,
        bound=None if plan is None else plan.bound,
        hosts=seen.hosts,
        delays=_between(seen.network.cells, sorted(in_use)),
    )


def _between(cells: Sequence[_Cell], sites: Sequence[str]) -> tuple[_Cell, ...]:
    """Return the delays of the pairs of some sites, each pair and all of them in the order of names."""
    by_pair = {frozenset(cell[:2]): cell[2:] for cell in cells}
    pairs = ((pair, by_pair.get(frozenset(pair))) for pair in combinations(sites, 2))
    return tuple((*pair, *found) for pair, found in pairs if found is not None)
