"""What the log says of the topologies of a round: those to which something happens, and numbers of the rest.

A line of thousands of topologies in every round would be megabytes a minute that say the same: records have
all plans, status lines the reason of each.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from bridge.wire.messages import Decision

if TYPE_CHECKING:
    from bridge.round.price.measuring import Measurement
    from bridge.round.round_report import Round
    from bridge.round.small.stability import Wait
    from bridge.wire.messages import Price, TopologyPlan

MOST_LISTED = 50
"""Topologies that a line lists: what is assigned before what is refused, and both before gains that wait."""


def topology_fields(done: Round) -> dict[str, Any]:
    """Return the fields of a round's line that are about its topologies.

    Args:
        done: The round.

    Returns:
        `topologies`: those that are not kept or whose gain waits, in the order of the response. `unlisted`:
        number of all others with a plan. `decisions`: number of plans by decision. `left_out`: number of
        topologies that are left to Storm's own scheduler. `left_out_topologies`: the first of these.
    """
    waits = dict(done.waits)
    plans = done.response.plans
    ranked = sorted(
        (rank, place)
        for place, plan in enumerate(plans)
        if (rank := _rank(plan, waits.get(plan.topology_id))) is not None
    )
    listed = [plans[place] for place in sorted(place for _, place in ranked[:MOST_LISTED])]
    return {
        "topologies": [_fields(plan, waits.get(plan.topology_id)) for plan in listed],
        "unlisted": len(plans) - len(listed),
        "decisions": dict(sorted(Counter(plan.decision.name for plan in plans).items())),
        "left_out": len(done.left_out),
        "left_out_topologies": [
            {"id": topology, "reason": reason} for topology, reason in done.left_out[:MOST_LISTED]
        ],
    }


def _rank(plan: TopologyPlan, wait: Wait | None) -> int | None:
    """Return how soon a topology is to be listed, None if nothing happens to it."""
    if plan.decision is Decision.ASSIGN or plan.evicted_for is not None:
        return 0
    if plan.decision is Decision.UNPLACEABLE:
        return 1
    return None if wait is None else 2


def _fields(plan: TopologyPlan, wait: Wait | None) -> dict[str, Any]:
    return {
        "id": plan.topology_id,
        "decision": plan.decision.name,
        "strategy": plan.strategy,
        "objective": plan.objective,
        "response_time_ms": plan.response_time_ms,
        "moves": 0 if plan.price is None else plan.price.executors_moved,
        "restarts": 0 if plan.price is None else plan.price.executors_restarted,
        **_price_fields(plan.price),
        "status": plan.status,
        **_wait_fields(wait),
    }


def _price_fields(price: Price | None) -> dict[str, Any]:
    """Return the price list of a plan that restarts executors, without what is not known."""
    if price is None or price.pause_s is None:
        return {}
    values = {
        "pause_s": price.pause_s,
        "replayed_tuples": price.replayed_tuples,
        "pulled_mb": price.pulled_mb,
        "move_cost": price.move_cost,
        "payback_s": price.payback_s,
        "objective_before": price.objective_before,
    }
    pairs = zip(price.metrics or (), price.staying or (), price.after or (), strict=True)
    return {
        **{name: round(value, 3) for name, value in values.items() if value is not None},
        "pause_source": price.pause_source,
        "metrics": {name: [staying, after] for name, staying, after in pairs},
    }


def measurement_fields(measured: Measurement) -> dict[str, Any]:
    """Return the fields of a line about an earlier plan: predicted beside measured, null where not known.

    Args:
        measured: What came of the plan.
    """
    response_ms, complete_ms = measured.response_time_ms, measured.complete_ms
    return {
        "topology": measured.topology,
        "planned_unix_s": round(measured.unix_s, 3),
        "pause_s": {"predicted": _short(measured.pause_s), "measured": _short(measured.measured_pause_s)},
        "workers_ran_s": _short(measured.workers_ran_s),
        "pause_until": measured.pause_until,
        "executors": {"predicted": measured.executors, "measured": measured.measured_executors},
        "workers": measured.workers,
        "response_time_ms": dict(
            zip(("before", "predicted", "after"), map(_short, response_ms), strict=True)
        ),
        "complete_ms": dict(zip(("before", "after"), map(_short, complete_ms), strict=True)),
        **({"reason": measured.why_not} if measured.why_not else {}),
    }


def _short(value: float | None) -> float | None:
    return None if value is None else round(value, 3)


def _wait_fields(wait: Wait | None) -> dict[str, float]:
    if wait is None:
        return {}
    return {
        "gain": round(wait.gain, 4),
        "seen_s": round(wait.seen_s, 1),
        "cooling_s": round(wait.cooling_s, 1),
    }
