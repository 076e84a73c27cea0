"""What came of a run: executors, hosts, late items and money, per period and in all."""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from scheduler.elasticity.leasing.costs import total_cost
from scheduler.elasticity.leasing.host import Offer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from experiments.elasticity.fleet import Counts
    from experiments.elasticity.loads import Floats
    from experiments.elasticity.queues import Queues
    from experiments.elasticity.scenario import Scenario, SimulatedOffer
    from scheduler.base.arrays import BoolArray

PERIOD_S = 60.0
"""Length of a period of the outcome, s."""


@dataclass(frozen=True)
class Period:
    """A minute of a run.

    Attributes:
        until_s: Its end, s.
        load: Mean load.
        executors: Of each component at its end, in the order of the scenario.
        hosts: Leased at its end.
        units: Billing units paid in it.
        leases: Hosts asked for in it.
        reconfigurations: Decisions in it that changed executors.
        items: Pairs of items and components that were processed in it.
        late: How many of these were late, for each factor of the scenario.
        releases: Hosts given back in it.
        waiting: Items that wait at its end.
        violations: Share of its time in which the response time is above its bound; None: there is no bound.
    """

    until_s: float
    load: float
    executors: tuple[int, ...]
    hosts: int
    units: int
    leases: int
    reconfigurations: int
    items: float
    late: tuple[float, ...]
    releases: int
    waiting: float
    violations: float | None


@dataclass(frozen=True)
class Outcome:
    """What came of a run, as far as it counts.

    Attributes:
        components: Their names.
        periods: Minute by minute.
        items: Pairs of items and components, those that still wait at the end included.
        late: How many of these are late, for each factor of the scenario; what still waits is.
        shares: What is in time, as a share of `items`, for each factor.
        units: Paid billing units.
        resource_cost: Of these.
        total_costs: With the penalty for what is late, for each factor.
        leases: Hosts asked for.
        host_hours: For which hosts were leased.
        executor_hours: For which there were executors.
        reconfigurations: Decisions that changed executors.
        releases: Hosts given back.
        violations: Share of the time in which the response time is above its bound; None: there is no bound.
    """

    components: tuple[str, ...]
    periods: tuple[Period, ...]
    items: float
    late: tuple[float, ...]
    shares: tuple[float, ...]
    units: int
    resource_cost: float
    total_costs: tuple[float, ...]
    leases: int
    host_hours: float
    executor_hours: float
    reconfigurations: int
    releases: int
    violations: float | None


def outcome_of(
    scenario: Scenario, offer: SimulatedOffer, queues: Queues, looks: Sequence[tuple[int, Counts]]
) -> Outcome:
    """Return what came of a run.

    Args:
        scenario: The scenario.
        offer: What was leased.
        queues: At the end.
        looks: (n,) steps after which the policy was asked, from 0 to the end, and what there was then.
    """
    by_component = queues.by_name.values()
    counted = slice(scenario.counted_from, scenario.steps)
    processed = np.sum([np.diff(each.processed) for each in by_component], axis=0)
    waiting = np.sum([each.came[1:] - each.processed[1:] for each in by_component], axis=0)
    late = [np.sum(list(queues.late(factor).values()), axis=0) for factor in scenario.late_factors]
    violated = None if scenario.response_max_ms is None else queues.responses_ms() > scenario.response_max_ms
    left = sum(each.backlog for each in by_component)
    items = float(processed[counted].sum()) + left
    all_late = tuple(float(each[counted].sum()) + left for each in late)
    begin, end = looks[_look_at(looks, scenario.counted_from)][1], looks[-1][1]
    units = end.units - begin.units
    leased = Offer(offer.cpu, offer.memory_mb, offer.billing_unit_s, offer.unit_cost)
    of_step = np.array([queues.load, processed, waiting, *late])
    return Outcome(
        components=tuple(each.name for each in scenario.component),
        periods=_periods(scenario, of_step, violated, looks),
        items=items,
        late=all_late,
        shares=tuple(1.0 - each / items if items else 1.0 for each in all_late),
        units=units,
        resource_cost=total_cost(units, 0.0, leased, 0.0),
        total_costs=tuple(total_cost(units, each, leased, scenario.late_penalty) for each in all_late),
        leases=end.leases - begin.leases,
        host_hours=_hours(scenario, looks, lambda each: each.hosts),
        executor_hours=_hours(scenario, looks, lambda each: sum(each.executors.values())),
        reconfigurations=end.reconfigurations - begin.reconfigurations,
        releases=end.releases - begin.releases,
        violations=None if violated is None else float(violated[counted].mean()),
    )


def _look_at(looks: Sequence[tuple[int, Counts]], step: int) -> int:
    """Return the first look at a step or later."""
    return min(bisect_left(looks, step, key=lambda each: each[0]), len(looks) - 1)


def _hours(scenario: Scenario, looks: Sequence[tuple[int, Counts]], count: Callable[[Counts], int]) -> float:
    """Return for how many hours there was how much of something; what is decided counts from then on."""
    steps = sum(
        count(counts) * (max(end, scenario.counted_from) - max(begin, scenario.counted_from))
        for (begin, counts), (end, _) in pairwise(looks)
    )
    return steps * scenario.step_s / 3600.0


def _periods(
    scenario: Scenario, of_step: Floats, violated: BoolArray | None, looks: Sequence[tuple[int, Counts]]
) -> tuple[Period, ...]:
    """Return the run minute by minute.

    Args:
        scenario: The scenario.
        of_step: (3 + n_factors, steps) load, items processed, items that wait, late items for each factor.
        violated: (steps,) whether the response time is above its bound; None: there is none.
        looks: As for `outcome_of`.
    """
    minutes = max(1, math.ceil(scenario.steps * scenario.step_s / PERIOD_S - 1e-9))
    ends = [min(scenario.steps, round((k + 1) * PERIOD_S / scenario.step_s)) for k in range(minutes)]
    names = [each.name for each in scenario.component]
    periods, begin, before = list[Period](), 0, looks[0][1]
    for end in ends:
        now = looks[_look_at(looks, end)][1]
        load, items, _, *late = of_step[:, begin:end].sum(axis=1).tolist()
        periods.append(
            Period(
                until_s=end * scenario.step_s,
                load=load / (end - begin),
                executors=tuple(now.executors[name] for name in names),
                hosts=now.hosts,
                units=now.units - before.units,
                leases=now.leases - before.leases,
                reconfigurations=now.reconfigurations - before.reconfigurations,
                items=items,
                late=tuple(late),
                releases=now.releases - before.releases,
                waiting=float(of_step[2, end - 1]),
                violations=None if violated is None else float(violated[begin:end].mean()),
            )
        )
        begin, before = end, now
    return tuple(periods)
