"""What hosts and moves cost one topology, as far as its hosts state enough to know it.

A price that some host does not state is known of none: what is left out would look cheap, or free. On Storm a
host loads a topology's jar before it runs the first executor of it, and state with each executor that comes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bridge.network.cluster import META_COST, META_PULL
from formats.counted import counted
from scheduler.base.checks import LARGEST

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bridge.network.cluster import Host, Hosts
    from bridge.wishes.topology_settings import TopologySettings
    from scheduler.base.arrays import BoolArray, FloatArray, IntArray

_HOSTS_SHOWN = 3


@dataclass(frozen=True, eq=False)
class Pricing:
    """The prices of one topology.

    Attributes:
        cost: (n_hosts,) what each host costs per second; 0 where that is not known.
        pull_mb_per_s: (n_hosts,) rate at which each loads; None where moves have no known price.
        image_mb: What a host loads before it runs the first executor.
        state_mb: (n_executors,) what it loads with each executor that comes.
        notes: What is weighed or limited but not known, one phrase each.
        unchecked: The budget that cannot be checked for that; empty if none.
    """

    cost: FloatArray
    pull_mb_per_s: FloatArray | None
    image_mb: float
    state_mb: FloatArray
    notes: tuple[str, ...] = ()
    unchecked: str = ""

    def shared_pull_s(self, hosts: IntArray) -> FloatArray:
        """(k,) time that hosts, (k,), take to load what all executors share, s; 0 without known prices."""
        if self.pull_mb_per_s is None:
            return np.zeros(len(hosts))
        return np.minimum(self.image_mb / self.pull_mb_per_s[hosts], LARGEST)

    def loaded_mb(self, before: Sequence[int], after: Sequence[int]) -> float:
        """Return what hosts load to go from one placement to another, MB.

        Args:
            before: Host of each executor.
            after: Where they are to run.
        """
        old, new = np.array(before, dtype=np.int64), np.array(after, dtype=np.int64)
        return self.image_mb * np.setdiff1d(new, old).size + float(self.state_mb[old != new].sum())

    def price(self, before: Sequence[int], after: Sequence[int]) -> float:
        """Return the price of going from one placement to another, host per executor, in units of the cost.

        Args:
            before: Where all executors run.
            after: Where they are to run.
        """
        if self.pull_mb_per_s is None:
            return 0.0
        old, new = np.array(before, dtype=np.int64), np.array(after, dtype=np.int64)
        fresh = np.setdiff1d(new, old)
        shared = float(self.shared_pull_s(fresh) @ self.cost[fresh])
        own = self.state_mb * self.cost[new] / self.pull_mb_per_s[new]
        return shared + float(own[old != new].sum())


def pricing_of(
    settings: TopologySettings, hosts: Hosts, reach: BoolArray, component: Sequence[str]
) -> Pricing:
    """Find out which prices of a topology are known.

    Args:
        settings: What the topology weighs, limits and states.
        hosts: Hosts of the round.
        reach: (n_hosts,) those where its executors run or may come.
        component: Name of the component of each executor.
    """
    costs_asked = [
        *(["cost is weighed"] if settings.weights.get("cost") else []),
        *(["budget.cost.per.sec is stated"] if settings.budget_cost_per_sec is not None else []),
    ]
    moves_asked = [
        *(["migration is weighed"] if settings.weights.get("migration") else []),
        *(["budget.migration is stated"] if settings.budget_migration is not None else []),
        *(["replan.horizon.secs is stated"] if settings.replan_horizon_secs is not None else []),
    ]
    loads = settings.image_mb is not None or bool(settings.state_mb)
    free = settings.replan_persistence == "none"
    if not (costs_asked or moves_asked or loads):
        return Pricing(hosts.cost, None, 0.0, np.zeros(len(component)))
    every = hosts.hosts
    no_cost = lacking(META_COST, [host.cost is not None for host in every], every, reach)
    no_rate = lacking(META_PULL, [host.pull_mb_per_s is not None for host in every], every, reach)
    if free:
        no_price = "replan.persistence none leaves prices of moves out"
    else:
        no_price = (no_rate or no_cost) if loads else "the price of a move is not known"
    if loads and not (moves_asked or free):
        moves_asked = ["image.mb or state.mb is stated"]
    notes = [
        f"{' and '.join(asked)} but {reason}"
        for asked, reason in ((costs_asked, no_cost), (moves_asked, no_price))
        if asked and reason
    ]
    if settings.replan_horizon_secs is not None and not (no_price or settings.weights.get("cost")):
        notes.append("replan.horizon.secs is stated but cost is not weighed")
    unchecked = [
        key
        for key, stated, reason in (
            ("budget.cost.per.sec", settings.budget_cost_per_sec, no_cost),
            ("budget.migration", settings.budget_migration, no_price),
        )
        if stated is not None and reason
    ]
    # What nothing is weighed or limited by may be shown in part.
    known = not (no_cost and (costs_asked or moves_asked))
    rates = np.array([each.pull_mb_per_s or np.inf for each in every], dtype=np.float64)
    return Pricing(
        cost=hosts.cost if known else np.zeros(len(every)),
        pull_mb_per_s=None if no_price else rates,
        image_mb=settings.image_mb or 0.0,
        state_mb=np.array([settings.state_mb.get(name, 0.0) for name in component], dtype=np.float64),
        notes=tuple(notes),
        unchecked=unchecked[0] if unchecked else "",
    )


def lacking(key: str, stated: Sequence[bool], hosts: Sequence[Host], reach: BoolArray) -> str:
    """Say which hosts in reach do not state a key; empty if all do.

    Args:
        key: The key.
        stated: Whether each host states it.
        hosts: The hosts.
        reach: (n_hosts,) those that matter.
    """
    if not any(stated):
        return f"no supervisor states {key}"
    lacking = [
        host.name for host, known, near in zip(hosts, stated, reach, strict=True) if near and not known
    ]
    if not lacking:
        return ""
    more = f" and {len(lacking) - _HOSTS_SHOWN} more" if len(lacking) > _HOSTS_SHOWN else ""
    named = ", ".join(lacking[:_HOSTS_SHOWN]) + more
    return f"{counted(len(lacking), 'host states', 'hosts state')} no {key} ({named})"
