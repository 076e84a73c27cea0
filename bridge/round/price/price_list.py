"""The price list of a plan: what each topology of which executors restart gains, waits for, loads and pays.

Everything is an estimate from what the round knows. What is not known is left out, never 0.
"""

from __future__ import annotations

import math
import traceback
from dataclasses import replace
from typing import TYPE_CHECKING

from bridge.problem.assignment import assignment_of, restarted_workers
from bridge.round.price.pause import UNTIL_THEY_RUN, expected_pause, starts_of
from bridge.round.price.replays import replayed_tuples
from bridge.round.price.worth import Worths
from bridge.wire.messages import Decision, Price
from formats.counted import counted
from scheduler.model.metrics.cost import COST
from scheduler.model.metrics.response_time import RESPONSE_TIME

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bridge.round.memory import Memory
    from bridge.round.round_report import Course, Round
    from bridge.settings import Settings
    from bridge.wire.messages import PlanRequest, TopologyPlan

_NOTHING = Price(0.0, 0, 0, 0)


def with_price_lists(
    request: PlanRequest, done: Round, settings: Settings, memory: Memory, course: Course
) -> Round:
    """Return a round with the price list of each topology of which running executors restart.

    Args:
        request: The round as the shim sees it.
        done: What came out of it.
        settings: The daemon's settings.
        memory: What the round before handed on.
        course: Time of the round; what it does not suffice for has no list.
    """
    priced = [plan for plan in done.response.plans if plan.decision is Decision.ASSIGN and _restarts(plan)]
    if not priced:
        return done
    prices = _Prices(request, done, settings, memory, course)
    listed: dict[str, TopologyPlan] = {}
    traces = list(done.traces)
    late = False
    for plan in priced:
        late = late or course.expired()
        if late:
            break
        try:
            listed[plan.topology_id] = prices.listed(plan)
        except Exception:  # noqa: BLE001  # a price that cannot be told must not cost the plan
            traces.append((plan.topology_id, traceback.format_exc()))
    plans = tuple(listed.get(plan.topology_id, plan) for plan in done.response.plans)
    return replace(
        done,
        response=replace(done.response, plans=plans),
        traces=tuple(traces),
        timed_out=done.timed_out or late,
    )


def _restarts(plan: TopologyPlan) -> int:
    return 0 if plan.price is None else plan.price.executors_restarted or 0


class _Prices:
    """Writes price lists in one round."""

    def __init__(
        self, request: PlanRequest, done: Round, settings: Settings, memory: Memory, course: Course
    ) -> None:
        self._request = request
        self._index = {topology.id: place for place, topology in enumerate(request.topologies)}
        self._rates = done.known.rates.by_topology
        self._hosts = done.known.hosts.of_supervisor
        self._worths = Worths(request, done.known, settings, course.clock)
        self._memory = memory

    def listed(self, plan: TopologyPlan) -> TopologyPlan:
        """Return a plan with its price list, of which the status line has the short form."""
        index, price = self._index[plan.topology_id], plan.price or _NOTHING
        topology = self._request.topologies[index]
        before = assignment_of(topology)
        after = tuple(zip(plan.executor_supervisor, plan.executor_port, strict=True))
        worth = self._worths.between(index, before, after)
        known = {
            name: (old, new)
            for name, (old, new) in worth.metrics.items()
            if old is not None and new is not None
        }
        pause = expected_pause(self._memory, starts_of(topology, before, after, self._hosts))
        restarting = {executor for worker in restarted_workers(before, after) for executor in worker}
        measured = self._rates.get(topology.id)
        response_time_ms = known.get(RESPONSE_TIME.answer, (None,))[0]
        price = replace(
            price,
            pause_s=pause.pause_s,
            pause_source=pause.source,
            pause_samples=pause.samples,
            replayed_tuples=replayed_tuples(topology, measured, restarting, pause.pause_s, response_time_ms),
            pulled_mb=worth.pulled_mb,
            move_cost=worth.move_cost,
            payback_s=_payback_s(price.payback_s, worth.move_cost, known),
            metrics=tuple(known),
            staying=tuple(old for old, _ in known.values()),
            after=tuple(new for _, new in known.values()),
        )
        reason = plan.status.replace("moved by ", "by ", 1)
        return replace(plan, price=price, status=f"{_short(plan.objective, price, known)}; {reason}")


def _payback_s(
    by_weights_s: float | None, move_cost: float | None, known: Mapping[str, tuple[float, float]]
) -> float | None:
    """Return the time in which a plan pays its moves; None if it never does, or that is not known.

    Args:
        by_weights_s: That time, infinite if it never comes, where the weights say what each gain is worth.
        move_cost: Price of the moves.
        known: Values of staying and after the plan, by metric: without such weights what is saved pays.
    """
    if move_cost is None or move_cost == 0:
        return move_cost
    if by_weights_s is not None:
        return by_weights_s if math.isfinite(by_weights_s) else None
    before, after = known.get(COST.answer, (0.0, 0.0))
    return None if before <= after else move_cost / (before - after)


def _short(objective: float | None, price: Price, known: Mapping[str, tuple[float, float]]) -> str:
    """Return the price list for a status line: what restarts, for what gain, how long it stands still."""
    what = counted(price.workers_moved, "worker restarts", "workers restart")
    if price.executors_moved:
        what = f"moved {counted(price.executors_moved, 'executor')} ({what})"
    parts = []
    if price.objective_before is not None and objective is not None:
        parts.append(f"F {price.objective_before:.3f} -> {objective:.3f}")
    if RESPONSE_TIME.answer in known:
        before, after = (f"{ms:.1f}".removesuffix(".0") for ms in known[RESPONSE_TIME.answer])
        parts.append(f"response time {before} -> {after} ms")
    before, after = (f"{cost:g}" for cost in known.get(COST.answer, (0.0, 0.0)))
    if before != after:
        parts.append(f"cost {before} -> {after} units/s")
    basis = "" if price.pause_samples else " (default)"
    if (price.pause_source or "").endswith(UNTIL_THEY_RUN):
        basis = " until workers run"
    parts.append(f"pause about {price.pause_s:.0f} s{basis}")
    return f"{what}: {', '.join(parts)}"
