"""Status lines: what was decided about a topology, why, and how far the readings can be trusted.

Nimbus logs each change of a line, so that one of a topology that is kept holds nothing that noise or time
changes from round to round: no ages, and worths in coarse steps. The daemon's log has the ages, and the
record of a round the worths.

The phrase of why is `Verdict.reason`, which `small`, `placing` and `improving` choose. Without a plan the
line is the shim's own (`PlacementScheduler`).
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from bridge.round.round_data import NOT_LIVE
from bridge.wishes.setting_values import COSTS
from formats.counted import counted
from formats.tier import TIERS
from scheduler.contract.result import relative_gap
from scheduler.model.metrics.link_cost import LINK_COST

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bridge.network.cluster import Host
    from bridge.problem.links.bandwidth_book import LinkLoad
    from bridge.problem.task import Task
    from bridge.round.round_data import RoundData
    from bridge.round.small.verdict import Verdict
    from bridge.wishes.wishes import Wishes

# Storm shows the line in a table: more faults than this are counted, and all are in the daemon's log.
_FAULTS_SHOWN = 3
_SITES_SHOWN = 7
_LINKS_SHOWN = 4
UNIT_RATES = "unit rates"
DECLARED_RATES = "declared rates"
# Steps of a worth in the status of a topology that is kept: preferred numbers (ISO 3, R10), ten per decade.
_STEPS = np.array([10, 12.5, 16, 20, 25, 31.5, 40, 50, 63, 80, 100]) / 10.0
_ROUNDING = 1e-9
_GAPS_PERCENT = (1, 2, 5, 10, 20, 50, 100)
_START = {"kept": "kept", "unmet": "kept (pin not met)", "unplaceable": "not placed"}


def data_summary(data: RoundData, task: Task | None = None) -> str:
    """Say where delays and rates come from and what is wrong with the readings.

    Args:
        data: What the round knows of the cluster.
        task: The topology whose status it is; with None it is for the log, with figures that change.
    """
    delays = data.delays.summary() if task is None else data.delays.sources()
    rates = (
        f"rates measured of {counted(len(data.rates.by_topology), 'topology', 'topologies')}"
        if task is None
        else _rates(data, task)
    )
    counts = {"stale": data.readings.stale, "too uncertain": data.readings.uncertain}
    missing = [f"{len(hosts)} {what}" for what, hosts in counts.items() if hosts]
    demand = None if task is None else data.cpu.get(task.topology.id)
    parts = [", ".join([delays, *missing]), *([] if demand is None else [demand.summary]), rates]
    if not data.readings.live:
        parts.append(NOT_LIVE)
    parts.extend(_first(data.faults))
    return "; ".join(parts)


def status_line(
    verdict: Verdict,
    task: Task,
    placement: Sequence[int],
    data: RoundData,
    *,
    note: str = "",
    loads: Sequence[LinkLoad] = (),
) -> str:
    """Compose the status line of one topology.

    Args:
        verdict: What was decided.
        task: The topology.
        placement: Host index of each executor that has a slot after the decision.
        data: What the round knows of the cluster.
        note: What is to be said of the hosts that it has for itself, empty if nothing.
        loads: Limited ways between sites that its streams take, the fullest first.
    """
    hosts = data.hosts.hosts
    facts = [*_worth(verdict, task), *([_spread(hosts, placement)] if placement else [])]
    worth = " ".join(facts)
    if verdict.kind in ("placed", "moved"):
        parts = [f"{verdict.reason}: {worth}"]
    else:
        parts = [f"{_START[verdict.kind]}: {verdict.reason}", *([worth] if worth else [])]
    parts.extend(_link_loads(loads, exact=verdict.kind in ("placed", "moved")))
    if task.settings.weights.get(LINK_COST.name) and data.site_links.no_cost:
        parts.append(f"link_cost is weighed but {data.site_links.no_cost}: delays count")
    parts.extend(_strange_ends(task, data))
    parts.extend(task.notes)
    parts.extend([note] if note else [])
    # Before the data: the shim cuts long lines, and users must see what of their own was ignored.
    parts.extend(ignored_settings(task.wishes))
    parts.append(data_summary(data, task))
    if verdict.result is not None and task.graph.feedback:
        parts.append("feedback streams left out of the response time")
    # One line, whatever names and values users put into their settings.
    return " ".join("; ".join(parts).split())


def worker_note(asked: int, workers: int) -> str:
    """Say that a topology has another number of workers than it asks for; empty if it has not.

    Args:
        asked: Number that it asks for, at most one per executor.
        workers: Number of its workers.
    """
    if asked < 2 or workers == asked:
        return ""
    return f", on {counted(workers, 'worker')} where {asked} were asked for"


def ignored_settings(wishes: Wishes) -> list[str]:
    """Name what of a topology's own settings does not count, one phrase each; all are in the daemon's log.

    Args:
        wishes: What the topology asks for.
    """
    return _first(tuple(f"setting ignored: {fault}" for fault in wishes.faults))


def _rates(data: RoundData, task: Task) -> str:
    if task.measured is not None:
        return task.measured.summary(task.topology)
    source = DECLARED_RATES if task.settings.rates else UNIT_RATES
    return f"{source} (the measured ones are stale)" if task.topology.id in data.rates.stale else source


def _worth(verdict: Verdict, task: Task) -> list[str]:
    """Say what the placement that holds is worth, and how far it may be from the best."""
    if verdict.evaluation is None:
        return []
    objective, time_ms = verdict.evaluation.objective, verdict.evaluation.response_time_ms
    exact = verdict.kind in ("placed", "moved")
    worth = f"{time_ms:.1f} ms response time" if exact else f"about {coarse(time_ms)} ms response time"
    if task.settings.weights.get("response_time") != 1.0:
        worth = f"F {objective:.4f}, {worth}" if exact else f"F about {coarse(objective)}, {worth}"
    if task.settings.weighs_costs:
        values = verdict.evaluation.values
        worth += "".join(
            f", {name.replace('_', ' ')} {values[name]:.4g}"
            if exact
            else f", {name.replace('_', ' ')} about {coarse(values[name])}"
            for name in COSTS
        )
    gap = None if verdict.bound is None else relative_gap(objective, verdict.bound)
    if verdict.optimal:
        worth += ", optimal,"
    elif gap is not None:
        percent = f"{gap * 100:.1f}" if exact else _coarse_percent(gap)
        worth += f", at most {percent} % of F above the optimum," if percent else ""
    return [worth]


def coarse(value: float, *, at_least: bool = False) -> str:
    """Return a number in steps of about a quarter, which noise of a few percent seldom leaves.

    Args:
        value: The number.
        at_least: Whether the next step above it is returned, not the nearest one.
    """
    if value <= 0 or not math.isfinite(value):
        return f"{value:g}"
    decade = 10.0 ** math.floor(math.log10(value))
    ratio = np.log(_STEPS * decade / value)
    step = _STEPS[np.argmax(ratio > -_ROUNDING) if at_least else np.argmin(np.abs(ratio))]
    return f"{step * decade:g}"


def _coarse_percent(fraction: float) -> str:
    """Return the least of some round percentages that a fraction is not above, nothing if there is none."""
    return next((str(percent) for percent in _GAPS_PERCENT if fraction * 100 <= percent), "")


def _link_loads(loads: Sequence[LinkLoad], *, exact: bool) -> list[str]:
    """Say how full the limited ways between sites are that a topology's streams take."""
    phrases = [
        f"{each.what} {each.bytes_per_s / 1000:.4g} of {each.most / 1000:.4g} kB/s"
        if exact
        else f"{each.what} at about {coarse(each.part * 100)} %"
        for each in loads[:_LINKS_SHOWN]
    ]
    left = len(loads) - len(phrases)
    return [", ".join([*phrases, *([f"{left} more less full"] if left else [])])] if loads else []


def _strange_ends(task: Task, data: RoundData) -> list[str]:
    """Name the sites of ends outside Storm that are at no host and in no setting: they count as far away."""
    own = task.settings
    if not own.ends_outside:
        return []
    known = {*data.site_links.names, *(name for each in data.network.site_delay for name in each.between)}
    return [
        f"{key} of {component} is {place}, which neither a host nor the network's settings name"
        for key, ends in (("origin", own.origin), ("destination", own.destination))
        for component, place in ends.items()
        if place.name not in known
    ]


def _spread(hosts: Sequence[Host], placement: Sequence[int]) -> str:
    used = sorted(set(placement))
    sites = Counter(hosts[host].site or "unknown" for host in placement)
    ranked = sorted(sites.items(), key=lambda item: (-item[1], item[0]))
    named = ", ".join(f"{site} {count}" for site, count in ranked[:_SITES_SHOWN])
    if len(ranked) > _SITES_SHOWN:
        named += f" and {len(ranked) - _SITES_SHOWN} more"
    tiers = Counter(hosts[host].tier or "unknown" for host in placement)
    if tiers.keys() != {"unknown"}:
        by_tier = ", ".join(f"{tier} {tiers[tier]}" for tier in (*TIERS, "unknown") if tier in tiers)
        named += f"; tier{'s' if len(tiers) != 1 else ''} {by_tier}"
    return f"over {counted(len(used), 'host')} (site{'s' if len(sites) != 1 else ''} {named})"


def _first(faults: Sequence[str]) -> list[str]:
    shown = list(faults[:_FAULTS_SHOWN])
    if len(faults) > _FAULTS_SHOWN:
        shown.append(f"{counted(len(faults) - _FAULTS_SHOWN, 'more fault')} in the daemon's log")
    return shown
