"""What came of a run: executors, hosts, late items and money, per period and in all."""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scheduler.elasticity.leasing.costs import total_cost
from scheduler.elasticity.leasing.host import Offer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from experiments.elasticity.fleet import Counts, Fleet
    from experiments.elasticity.loads import Floats
    from experiments.elasticity.queues import Queues
    from experiments.elasticity.scenario import Scenario, SimulatedOffer

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
        waiting: Items that wait at its end.
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
    waiting: float


@dataclass(frozen=True)
class Outcome:
    """What came of a run.

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
        changes: Executors started, stopped and moved.
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
    changes: int


def outcome_of(
    scenario: Scenario,
    offer: SimulatedOffer,
    queues: Queues,
    fleet: Fleet,
    looks: Sequence[tuple[int, Counts]],
) -> Outcome:
    """Return what came of a run.

    Args:
        scenario: The scenario.
        offer: What was leased.
        queues: At the end.
        fleet: At the end.
        looks: (n,) steps after which the policy was asked, the last one the end, and what there was then.
    """
    by_component = queues.by_name.values()
    processed = np.sum([np.diff(each.processed) for each in by_component], axis=0)
    waiting = np.sum([each.came[1:] - each.processed[1:] for each in by_component], axis=0)
    late = [np.sum(list(queues.late(factor).values()), axis=0) for factor in scenario.late_factors]
    left = sum(each.backlog for each in by_component)
    items = float(processed.sum()) + left
    all_late = tuple(float(each.sum()) + left for each in late)
    leased = Offer(offer.cpu, offer.memory_mb, offer.billing_unit_s, offer.unit_cost)
    begins = [0, *(step for step, _ in looks[:-1])]
    executor_s = sum(
        sum(counts.executors) * (end - begin) * scenario.step_s
        for begin, (end, counts) in zip(begins, looks, strict=True)
    )
    return Outcome(
        components=tuple(each.name for each in scenario.component),
        periods=_periods(scenario, np.array([queues.load, processed, waiting, *late]), looks),
        items=items,
        late=all_late,
        shares=tuple(1.0 - each / items if items else 1.0 for each in all_late),
        units=fleet.units,
        resource_cost=total_cost(fleet.units, 0.0, leased, 0.0),
        total_costs=tuple(total_cost(fleet.units, each, leased, scenario.late_penalty) for each in all_late),
        leases=fleet.leases,
        host_hours=fleet.host_s / 3600.0,
        executor_hours=executor_s / 3600.0,
        reconfigurations=fleet.reconfigurations,
        changes=fleet.changes,
    )


def _periods(scenario: Scenario, of_step: Floats, looks: Sequence[tuple[int, Counts]]) -> tuple[Period, ...]:
    """Return the run minute by minute.

    Args:
        scenario: The scenario.
        of_step: (3 + n_factors, steps) load, items processed, items that wait, late items for each factor.
        looks: As for `outcome_of`.
    """
    minutes = max(1, math.ceil(scenario.steps * scenario.step_s / PERIOD_S - 1e-9))
    ends = [min(scenario.steps, round((k + 1) * PERIOD_S / scenario.step_s)) for k in range(minutes)]
    steps = [step for step, _ in looks]
    periods, begin, before = list[Period](), 0, None
    for end in ends:
        now = looks[min(bisect_left(steps, end), len(looks) - 1)][1]
        load, processed, waiting, *late = of_step[:, begin:end]
        periods.append(
            Period(
                until_s=end * scenario.step_s,
                load=float(load.mean()),
                executors=now.executors,
                hosts=now.hosts,
                units=now.units - (before.units if before else 0),
                leases=now.leases - (before.leases if before else 0),
                reconfigurations=now.reconfigurations - (before.reconfigurations if before else 0),
                items=float(processed.sum()),
                late=tuple(float(each.sum()) for each in late),
                waiting=float(waiting[-1]),
            )
        )
        begin, before = end, now
    return tuple(periods)
