"""How many executors a component needs: by what comes, what waits, and what is about to come."""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from scheduler.elasticity.leasing.by_load.usual import usual_after
from scheduler.elasticity.leasing.state import LeasingState
from scheduler.elasticity.useful import useful

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scheduler.elasticity.leasing.by_load.seen_demand import SeenDemand
    from scheduler.elasticity.leasing.by_load.sized_parameters import SizedParameters
    from scheduler.elasticity.leasing.by_load.usual import Usual
    from scheduler.elasticity.leasing.component import Component
    from scheduler.elasticity.leasing.decision import LeasingDecision
    from scheduler.elasticity.leasing.observation import ComponentReading

_ROUNDING = 1e-9


@dataclass(frozen=True)
class Foreseen:
    """What a component was changed for: noise in a forecast does not undo it meanwhile.

    Attributes:
        demand_per_s: Items per second.
        since_s: When it was changed, s.
        until_s: Until when that is to do, s.
    """

    demand_per_s: float
    since_s: float
    until_s: float

    def holds(self, now_s: float) -> bool:
        """Return whether it counts; after a clock was set back it does not."""
        return self.since_s <= now_s < self.until_s


@dataclass(frozen=True)
class SizedState:
    """Memory of the policy.

    Attributes:
        leasing: What it shares with other policies.
        demand: (n, 2) times, s, and demand, items per second, of each component, the oldest first; as far
            back as the peak is kept or the trend looks.
        owed: What items have cost, by group, that came late since its executors last changed, in the currency
            of the offer.
        expecting_s: Groups for which hosts were leased that have not got their executors yet, since when, s.
        owed_at_s: Until when that is counted, s; None: nothing is.
        spare: What hosts have cost that were kept only since emptying them has its price, since that was last
            done.
        usual: What demand is usual at each time, by group.
        foreseen: What components were last changed for.
    """

    leasing: LeasingState = field(default_factory=LeasingState)
    demand: Mapping[str, tuple[tuple[float, float], ...]] = field(default_factory=dict)
    owed: Mapping[str, float] = field(default_factory=dict)
    expecting_s: Mapping[str, float] = field(default_factory=dict)
    owed_at_s: float | None = None
    spare: float = 0.0
    usual: Mapping[str, Usual] = field(default_factory=dict)
    foreseen: Mapping[str, Foreseen] = field(default_factory=dict)

    def with_readings(
        self, now_s: float, readings: Mapping[str, ComponentReading], parameters: SizedParameters
    ) -> SizedState:
        """Return the state with the demand of this round, and without what is too old."""
        since_s = now_s - max(parameters.keep_peak_s, parameters.trend_s)
        demand: dict[str, tuple[tuple[float, float], ...]] = {}
        # also of what is not scaled for a moment, as its topology is paused or cannot be read
        recent = {name for name, seen in self.demand.items() if seen and since_s <= seen[-1][0]}
        for name in (*parameters.by_name, *sorted(recent - parameters.by_name.keys())):
            kept = self.demand.get(name, ())
            # times rise; a pair comes before a longer one that begins with the same
            kept = kept[bisect_left(kept, (since_s,)) : bisect_left(kept, (now_s,))]
            reading = readings.get(name)
            if reading is not None and reading.demand_per_s is not None:
                kept = (*kept, (now_s, reading.demand_per_s))
            demand[name] = kept
        usual: Mapping[str, Usual] = {}
        if parameters.season_s:
            usual = usual_after(self.usual, now_s, parameters.components, readings, parameters.season_s)
        return replace(self, demand=demand, usual=usual)

    def after(
        self,
        decision: LeasingDecision,
        parameters: SizedParameters,
        now_s: float,
        *,
        waiting: frozenset[str],
        planned: Mapping[str, Foreseen],
    ) -> SizedState:
        """Return the state in which nothing is owed to groups that change, and hosts are expected by others.

        Args:
            decision: Of the round.
            parameters: Of the policy.
            now_s: Time of the decision, s.
            waiting: Groups that wait for hosts.
            planned: What components are changed for if they are.
        """
        group = {each.name: each.group for each in parameters.components}
        changed = {group[each.component] for each in (*decision.starts, *decision.stops)}
        changed |= {group[each.component] for each in decision.moves}
        expecting = waiting | {
            group[each.component] for each in decision.starts if each.host in decision.leases
        }
        grown = {group[each.component] for each in decision.starts} | waiting
        foreseen = {name: each for name, each in self.foreseen.items() if each.holds(now_s)}
        for name, each in planned.items():
            before = foreseen.get(name)
            if group[name] in grown and (before is None or before.demand_per_s <= each.demand_per_s):
                foreseen[name] = each
        return replace(
            self,
            foreseen=foreseen,
            owed={key: 0.0 if key in changed else owed for key, owed in self.owed.items()},
            expecting_s={**self.expecting_s, **dict.fromkeys(expecting, now_s)},
        )


@dataclass(frozen=True)
class Need:
    """What a component needs.

    Attributes:
        demand_per_s: Items per second to provide for.
        service_ms: For so long each occupies an executor, ms.
        executors: How many there should be, as far as it may have them.
        least: With fewer than so many it cannot keep up, or a backlog stays; at most `executors`.
        why: Sentence for the reason.
        tasks: Among which executors are dealt; None: as many as one likes.
        demand_only: As many executors as there should be without a backlog; None: `executors`.
        expected_per_s: Items per second to provide for without what was foreseen before.
        beyond: How many there should be if it might have more; None: `executors`.
    """

    demand_per_s: float
    service_ms: float
    executors: int
    least: int
    why: str
    tasks: int | None = None
    demand_only: int | None = None
    expected_per_s: float = 0.0
    beyond: int | None = None

    @property
    def for_demand(self) -> int:
        """As many executors as there should be if nothing waited."""
        return self.executors if self.demand_only is None else self.demand_only

    @property
    def busy(self) -> float:
        """Executors that the demand alone keeps busy."""
        return self.demand_per_s * self.service_ms / 1000.0


def need_of(
    component: Component,
    reading: ComponentReading,
    seen: SeenDemand,
    ahead_s: float | None = None,
    *,
    usual: Usual | None = None,
    foreseen: float = 0.0,
) -> Need | None:
    """Return what a component needs; None if its service time is unknown, or its demand just now.

    n = demand x service time / target load + backlog x service time / drain time, rounded up to a number that
    makes a difference, within its bounds. The demand is the highest of the last `keep_peak_s`, carried on by
    what is usual where that is known, or, if that is more, where the trend leads, or what was foreseen.

    Args:
        component: Which.
        reading: That counts.
        seen: Of its demand, the reading's own included.
        ahead_s: How far trend and season are followed, s; None: as the parameters have it.
        usual: What is usual at each time; None: that is not known.
        foreseen: Items per second that a change is to do for, so that noise does not undo it.
    """
    if reading.demand_per_s is None or reading.service_ms is None:
        return None
    parameters = seen.parameters
    ahead_s = parameters.ahead_s if ahead_s is None else ahead_s
    coming = seen.coming(ahead_s)
    carried = None if usual is None else seen.carried_on(ahead_s, usual)
    before = seen.peak if carried is None else carried
    expected = max(before, coming)
    demand, backlog = max(expected, foreseen), reading.waiting
    service_s = reading.service_ms / 1000.0
    exact = demand * service_s / parameters.target_load + backlog * service_s / parameters.drain_s
    wanted = math.ceil(exact - _ROUNDING)
    executors = _within(component, wanted)
    unbound = useful(component.tasks, max(component.least, wanted))
    if demand > before:
        what = "are coming" if coming >= foreseen else "were foreseen"
    else:
        what = "come" if carried is None else "are expected"
    why = f"{demand:.3g} items/s {what}, {backlog:.3g} wait, each takes {reading.service_ms:.3g} ms"
    least = executors
    if backlog <= parameters.queue_up:
        least = min(executors, _within(component, math.floor(demand * service_s + _ROUNDING) + 1))
    for_demand = executors
    if backlog:
        alone = math.ceil(demand * service_s / parameters.target_load - _ROUNDING)
        for_demand = min(executors, _within(component, alone))
    return Need(
        demand,
        reading.service_ms,
        executors,
        least,
        why,
        component.tasks,
        for_demand,
        expected,
        beyond=max(unbound, wanted) if max(unbound, wanted) > executors else None,
    )


def _within(component: Component, wanted: int) -> int:
    """Return a number of executors that does what is wanted, as far as the component may have it."""
    executors = useful(component.tasks, max(component.least, wanted))
    return executors if component.most is None else min(executors, component.most)
