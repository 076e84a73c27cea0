"""The hosts of one round: their places, supervisors, capacities, speed and prices."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bridge.network.host_places import locate

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from bridge.readings.believed import Readings
    from bridge.settings import CapacitySettings, Settings
    from bridge.wire.messages import PlanRequest, Supervisor
    from scheduler.base.arrays import FloatArray

META_EXECUTORS = "stormplace.executors"
META_COST = "stormplace.cost"
META_PRICE = "stormplace.price.per.hour"
META_SPEEDUP = "stormplace.speedup"
META_PULL = "stormplace.pull.mb.per.sec"
META_UNIT_COST = "stormplace.unit.cost"
_TERMS = frozenset({META_COST, META_PRICE, META_SPEEDUP, META_PULL, META_UNIT_COST})
EXECUTORS = "executors"
CPU = "cpu_percent"
MEMORY = "memory_mb"
# Stands for "not limited": resource amounts have to be finite numbers.
UNLIMITED = 1e12
# Storm's own default of `supervisor.cpu.capacity`, in cores.
_USUAL_CORES = 4

# Nine digits are more executors than any host carries, and nothing that is charged for needs more.
_WHOLE = re.compile(r"\d{1,9}")
_DECIMAL = re.compile(r"\d{1,9}(\.\d{1,9})?", re.ASCII)
_ABOVE_0 = re.compile(r"(?=.*[1-9])\d{1,9}(\.\d{1,9})?", re.ASCII)
_HOUR_S = 3600.0
# The same price by the second has few digits.
_ROUNDED = 1e-6

Slot = tuple[int, int]
"""A worker slot: supervisor index in the request, port."""


@dataclass(frozen=True)
class Host:
    """A host with all its supervisors; the node of the placement problem.

    Attributes:
        name: Name of the host.
        site: Its site, if known.
        supervisors: Indices of its supervisors in the request, ascending.
        usable: True if at least one supervisor may take new executors.
        capacity: What its usable supervisors carry in all, by resource.
        cost: What it costs per second, None if it is not stated.
        speedup: Its speed by that of the reference processor, which one that states none is taken for.
        pull_mb_per_s: Rate at which it loads topologies, None if it is not stated.
        silent: Which of `site` and `tier` may be lost: it has no reading, while readings of others tell it.
        limited: True if its number of executors is stated, not just a fair share.
        tier: Its tier, one of `TIERS`, if known.
        unit_cost: What a unit of load (1 % of a core) costs there, None if it is not stated.
    """

    name: str
    site: str | None
    supervisors: tuple[int, ...]
    usable: bool
    capacity: Mapping[str, float]
    cost: float | None = None
    speedup: float = 1.0
    pull_mb_per_s: float | None = None
    silent: frozenset[str] = frozenset()
    limited: bool = True
    tier: str | None = None
    unit_cost: float | None = None


@dataclass(frozen=True)
class Hosts:
    """All hosts of a round, sorted by name.

    Attributes:
        hosts: The hosts.
        host_of_supervisor: Host index by supervisor index.
        faults: One phrase per contradictory or unreadable piece of metadata.
    """

    hosts: tuple[Host, ...]
    host_of_supervisor: tuple[int, ...]
    faults: tuple[str, ...]

    @cached_property
    def of_supervisor(self) -> list[tuple[str, str | None]]:
        """Name and site of each supervisor's host by supervisor index, the site None if it is not known."""
        return [(self.hosts[host].name, self.hosts[host].site) for host in self.host_of_supervisor]

    @property
    def site_of_supervisor(self) -> list[str | None]:
        """Site of each supervisor's host by supervisor index, None if it is not known."""
        return [self.hosts[host].site for host in self.host_of_supervisor]

    @cached_property
    def cost(self) -> FloatArray:
        """(n_hosts,) what each host costs per second, 0 where it does not state that."""
        return np.array([host.cost or 0.0 for host in self.hosts], dtype=np.float64)

    @cached_property
    def speedup(self) -> FloatArray:
        """(n_hosts,) speed of each host by that of the reference processor."""
        return np.array([host.speedup for host in self.hosts], dtype=np.float64)

    @cached_property
    def alike(self) -> bool:
        """Whether all hosts are as fast as the reference processor."""
        return bool((self.speedup == 1.0).all())


def gather_hosts(request: PlanRequest, settings: Settings, readings: Readings) -> Hosts:
    """Put supervisors that share a host together.

    Args:
        request: The round.
        settings: Capacity where the metadata states none, tiers and unit costs of sites.
        readings: Believed readings.
    """
    by_name: dict[str, dict[int, Supervisor]] = {}
    for index, supervisor in enumerate(request.supervisors):
        by_name.setdefault(supervisor.host, {})[index] = supervisor
    by_name = dict(sorted(by_name.items()))
    faults: list[str] = []
    supervisors = {name: [*own.values()] for name, own in by_name.items()}
    places = locate(supervisors, readings, settings.network.tier_of_site, faults)
    capacity, fair = settings.capacity, _fair_share(request)
    unit_costs = settings.network.unit_cost_of_site
    hosts = tuple(
        Host(
            name=name,
            site=places[name].site,
            tier=places[name].tier,
            silent=places[name].silent,
            supervisors=tuple(own),
            usable=any(supervisor.usable for supervisor in own.values()),
            capacity=_capacity(supervisors[name], capacity, fair, faults),
            **{"unit_cost": unit_costs.get(places[name].site or ""), **_terms(own.values(), faults)},
            limited=capacity.executors_per_host is not None
            or any(_WHOLE.fullmatch(each.meta.get(META_EXECUTORS, "")) for each in own.values()),
        )
        for name, own in by_name.items()
    )
    position = {host.name: index for index, host in enumerate(hosts)}
    return Hosts(hosts, tuple(position[supervisor.host] for supervisor in request.supervisors), tuple(faults))


def _capacity(
    supervisors: Sequence[Supervisor], settings: CapacitySettings, fair: float, faults: list[str]
) -> dict[str, float]:
    usable = [supervisor for supervisor in supervisors if supervisor.usable]
    result = {EXECUTORS: 0.0}
    for supervisor in supervisors:
        faults.extend(_amount_faults(supervisor))
    if usable:
        stated = _stated(supervisors, META_EXECUTORS, _WHOLE, "no whole number", faults)
        # The least of contradictory values is the safe one.
        cores = sum(map(_cores, usable))
        usual = settings.executors_per_host or max(cores, math.ceil(fair * cores))
        result[EXECUTORS] = float(min(stated, default=usual))
    if settings.resources != "off":
        result[CPU] = _total([supervisor.cpu_percent for supervisor in usable])
        result[MEMORY] = _total([supervisor.memory_mb for supervisor in usable])
    return result


def _fair_share(request: PlanRequest) -> float:
    """Executors per core if all of the cluster's were spread evenly over all of its cores."""
    executors = sum(topology.n_executors for topology in request.topologies)
    return executors / max(sum(_cores(each) for each in request.supervisors if each.usable), 1)


def _cores(supervisor: Supervisor) -> int:
    stated = stated_amount(supervisor.cpu_percent)
    return _USUAL_CORES if stated is None else max(int(stated / 100), 1)


def _amount_faults(supervisor: Supervisor) -> list[str]:
    amounts = {"CPU": supervisor.cpu_percent, "memory": supervisor.memory_mb}
    amounts.update((f"resource {index}", amount) for index, amount in enumerate(supervisor.resources or ()))
    return [
        f"{name} of supervisor {supervisor.id} is no amount ({amount:g})"
        for name, amount in amounts.items()
        if not 0 <= amount < math.inf
    ]


def stated_amount(amount: float) -> float | None:
    """Return the capacity that a supervisor states; None for 0, which is unknown, and what is no amount."""
    return min(amount, UNLIMITED) if 0 < amount < math.inf else None


def _terms(supervisors: Collection[Supervisor], faults: list[str]) -> dict[str, Any]:
    """Return what a host costs and how fast it is, as far as that is stated, by attribute."""
    if all(_TERMS.isdisjoint(each.meta) for each in supervisors):
        # Most hosts of most clusters; there may be thousands.
        return {}
    own = [*supervisors]
    unit_costs = _stated(own, META_UNIT_COST, _DECIMAL, "no number >= 0", faults)
    return {
        "cost": _cost(own, faults),
        "speedup": _least(own, META_SPEEDUP, faults) or 1.0,
        "pull_mb_per_s": _least(own, META_PULL, faults),
        # the greatest of contradictory ones is the safe one
        **({"unit_cost": max(unit_costs)} if unit_costs else {}),
    }


def _cost(supervisors: Sequence[Supervisor], faults: list[str]) -> float | None:
    """Return what a host costs per second: the greatest of contradictory prices is the safe one."""
    second = _stated(supervisors, META_COST, _DECIMAL, "no number >= 0", faults)
    hour = _stated(supervisors, META_PRICE, _DECIMAL, "no number >= 0", faults)
    if second and hour and not math.isclose(max(second) * _HOUR_S, max(hour), rel_tol=_ROUNDED):
        host, stated = supervisors[0].host, f"{max(second) * _HOUR_S:g} an hour by {META_COST}"
        faults.append(f"{host} costs {stated} and {max(hour):g} by {META_PRICE}")
    return max([*second, *(each / _HOUR_S for each in hour)], default=None)


def _least(supervisors: Sequence[Supervisor], key: str, faults: list[str]) -> float | None:
    """Return the least of the numbers > 0 that a host states under a key, which is the safe one."""
    stated = _stated(supervisors, key, _ABOVE_0, "no number > 0", faults)
    return min(stated, default=None)


def _stated(
    supervisors: Sequence[Supervisor], key: str, form: re.Pattern[str], fault: str, faults: list[str]
) -> list[float]:
    """Return the numbers that the metadata of a host's supervisors state under a key."""
    stated: list[float] = []
    for supervisor in supervisors:
        text = supervisor.meta.get(key)
        if text is not None and form.fullmatch(text):
            stated.append(float(text))
        elif text is not None:
            faults.append(f"{key} of supervisor {supervisor.id} is {fault} ({text!r})")
    if len(set(stated)) > 1:
        faults.append(f"supervisors of {supervisors[0].host} state several values of {key}")
    return stated


def _total(amounts: Sequence[float]) -> float:
    # Where the capacity of one is unknown nothing is known that could be exceeded.
    stated = [known for amount in amounts if (known := stated_amount(amount)) is not None]
    return math.fsum(stated) if len(stated) == len(amounts) else UNLIMITED
