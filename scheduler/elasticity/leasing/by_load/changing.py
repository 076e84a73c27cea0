"""Whether a change of executors is worth its pause, and for how long it is to do.

While executors of a group change, its items wait, and then what has piled up is worked off. How long a change
will be of use is not known. So one is made once being late without it has cost as much as it does: what is
paid in all is then at most twice what could not be avoided. What does not keep up does not wait, and neither
does a backlog of which items wait for less time in all with a change than without.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING

from scheduler.elasticity.leasing.by_load.host_set import late_cost
from scheduler.elasticity.leasing.by_load.seen_demand import SeenDemand
from scheduler.elasticity.leasing.by_load.sizing import Foreseen, need_of
from scheduler.elasticity.useful import effective

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scheduler.elasticity.leasing.by_load.sized_parameters import SizedParameters
    from scheduler.elasticity.leasing.by_load.sizing import Need, SizedState
    from scheduler.elasticity.leasing.component import Component
    from scheduler.elasticity.leasing.observation import ComponentReading


_EXPECTING_S = 300.0
"""Hosts that were leased for a group are kept for so long while nothing is known of it, s."""
_NOTHING: Mapping[str, float] = MappingProxyType({})


@dataclass(frozen=True)
class Changing:
    """What a change costs, by group, and who needs one.

    Attributes:
        prices: Group -> what items cost that are late by a change of it, in the currency of the offer.
        behind: Groups that have a backlog: it is worked off before they shrink.
        due: Groups for which it is time.
        urgent: Those that do not keep up, or of which items wait for less time in all with a change.
        lacks: Group -> share of what comes that its worst component does not serve; 1 if a backlog hurries.
        needs: Of components, for as long as a change of them is to do.
        planned: What components are changed for if they are.
        unsure: Whether nothing is known just now of a group for which hosts were leased.
    """

    prices: Mapping[str, float]
    behind: frozenset[str]
    due: frozenset[str]
    urgent: frozenset[str]
    lacks: Mapping[str, float]
    needs: Mapping[str, Need]
    planned: Mapping[str, Foreseen] = field(default_factory=dict)
    unsure: bool = False

    def waits_for_hosts(self, component: Component, parameters: SizedParameters) -> bool:
        """Return whether a group waits until hosts are up: it would stand still once more when they are.

        What is not served until then piles up, and in a pause all that comes.
        """
        pause_s, boot_s = parameters.pause_s(component), parameters.offer.boot_s
        if not pause_s or component.group not in self.urgent:
            return pause_s > 0.0
        return boot_s is not None and boot_s * self.lacks[component.group] <= pause_s


def changing(
    now_s: float,
    readings: Mapping[str, ComponentReading],
    there: Mapping[str, int],
    state: SizedState,
    parameters: SizedParameters,
) -> tuple[Changing, SizedState]:
    """Return what a change costs and who needs one, and the state with what has come late since the last one.

    Args:
        now_s: Time of the decision, s.
        readings: Of components, those that count.
        there: Executors of each component.
        state: With the demand of this round.
        parameters: Of the policy.
    """
    groups: dict[str, list[Component]] = defaultdict(list)
    for each in parameters.components:
        groups[each.group].append(each)
    # a clock that was set back counts nothing
    passed_s = max(0.0, now_s - (now_s if state.owed_at_s is None else state.owed_at_s))
    prices: dict[str, float] = {}
    owed: dict[str, float] = {}
    behind, due, urgent = set[str](), set[str](), set[str]()
    lacks: dict[str, float] = {}
    needs: dict[str, Need] = {}
    planned: dict[str, Foreseen] = {}
    foreseen = {name: each.demand_per_s for name, each in state.foreseen.items() if each.holds(now_s)}
    for group, members in groups.items():
        own = _Group(members, readings, state, parameters)
        now = own.needs(parameters.ahead_s)
        prices[group] = own.price(now)
        if own.pause_s and any(readings[name].waiting > parameters.queue_up for name in now):
            behind.add(group)
        owed[group] = state.owed.get(group, 0.0) + own.late(now, there) * passed_s
        lacks[group] = max((_lack(there[name], need) for name, need in now.items()), default=0.0)
        if any(_hurries(there[name], need, readings[name].waiting, own) for name, need in now.items()):
            urgent.add(group)
            lacks[group] = lacks[group] or 1.0
        if group in urgent or owed[group] >= prices[group]:
            due.add(group)
        ahead_s = own.ahead_s(now, prices[group])
        wanted = now if ahead_s == parameters.ahead_s and not foreseen else own.needs(ahead_s, foreseen)
        needs |= wanted
        if own.pause_s:
            # executors on hosts that are asked for now come later
            until_s = now_s + ahead_s + (parameters.offer.boot_s or 0.0)
            planned |= {name: Foreseen(need.expected_per_s, now_s, until_s) for name, need in wanted.items()}
    expecting_s = {
        group: at_s
        for group, at_s in state.expecting_s.items()
        if 0.0 <= now_s - at_s <= _EXPECTING_S and any(_wants(each, needs, there) for each in groups[group])
    }
    unsure = any(each.name not in needs for group in expecting_s for each in groups[group])
    change = Changing(
        prices, frozenset(behind), frozenset(due), frozenset(urgent), lacks, needs, planned, unsure
    )
    return change, replace(state, owed=owed, owed_at_s=now_s, expecting_s=expecting_s)


@dataclass(frozen=True)
class _Group:
    """Components that stand still together, and what is known of them."""

    members: list[Component]
    readings: Mapping[str, ComponentReading]
    state: SizedState
    parameters: SizedParameters

    @property
    def pause_s(self) -> float:
        return max(self.parameters.pause_s(each) for each in self.members)

    @cached_property
    def seen(self) -> dict[str, SeenDemand]:
        """What was seen of the demand of its components, where anything was."""
        demand = self.state.demand
        return {
            each.name: SeenDemand(demand[each.name], self.parameters)
            for each in self.members
            if demand[each.name]
        }

    def needs(self, ahead_s: float, foreseen: Mapping[str, float] = _NOTHING) -> dict[str, Need]:
        """Return what its components need for what is expected so far ahead, and was foreseen."""
        found = {
            each.name: need_of(
                each,
                self.readings[each.name],
                self.seen[each.name],
                ahead_s,
                usual=self.state.usual.get(each.group),
                foreseen=foreseen.get(each.name, 0.0),
            )
            for each in self.members
            if each.name in self.readings and each.name in self.seen
        }
        return {name: need for name, need in found.items() if need is not None}

    def price(self, needs: Mapping[str, Need]) -> float:
        """Return what items cost that are late by a change: in its pause, and until that is worked off."""
        if not self.pause_s:
            return 0.0
        most = max((need.demand_per_s for need in needs.values()), default=0.0)
        return self.parameters.penalty * most * self.pause_s / (1.0 - self.parameters.target_load)

    def late(self, needs: Mapping[str, Need], there: Mapping[str, int]) -> float:
        """Return what items cost in a second that are late without a change."""
        late = sum(late_cost(there[name], need, self.parameters) for name, need in needs.items())
        return late / self.parameters.offer.billing_unit_s

    def ahead_s(self, needs: Mapping[str, Need], price: float) -> float:
        """Return for how long a change is to do, s.

        Where demand rises evenly, executors that are there early cost s c t / 2 per second if changes are t
        apart, and changes p / t: together the least at t = sqrt(2 p / (s c)), the lot size of Harris (1913).
        """
        offer, parameters, rise = self.parameters.offer, self.parameters, 0.0
        for each in self.members:
            if each.name in needs:
                share = max(each.cpu / offer.cpu, each.memory_mb / offer.memory_mb)
                busy_s = needs[each.name].service_ms / 1000.0 / parameters.target_load
                rise += self.seen[each.name].slope * busy_s * share
        cost = rise * offer.unit_cost / offer.billing_unit_s
        lot_s = math.sqrt(2.0 * price / cost) if cost > 0.0 else 0.0
        # no trend is followed for longer than it was seen
        return max(parameters.ahead_s, offer.boot_s or 0.0, min(lot_s, parameters.trend_s))


def _wants(component: Component, needs: Mapping[str, Need], there: Mapping[str, int]) -> bool:
    """Return whether a component may get more executors."""
    return component.name not in needs or needs[component.name].executors > there[component.name]


def _lack(there: int, need: Need) -> float:
    """Return which share of what comes a component does not serve."""
    if not need.demand_per_s:
        return 0.0
    served = effective(need.tasks, there) * 1000.0 / need.service_ms
    return max(0.0, 1.0 - served / need.demand_per_s)


def _hurries(there: int, need: Need, waiting: float, group: _Group) -> bool:
    """Return whether a component does not keep up, or items wait for less time in all with a change."""
    if there >= need.executors:
        return False
    service_s = need.service_ms / 1000.0
    spare = effective(need.tasks, there) / service_s - need.demand_per_s
    if spare <= 0.0:
        return True
    if waiting <= group.parameters.queue_up:
        return False
    after = effective(need.tasks, need.executors) / service_s - need.demand_per_s
    if after <= spare:
        return False
    piled = waiting + need.demand_per_s * group.pause_s
    without = waiting**2 / spare / 2.0
    pausing = (waiting + piled) / 2.0 * group.pause_s
    return without > pausing + piled**2 / after / 2.0
