"""Hosts in a run: what runs on them when, until when they are paid, and what they have cost."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from scheduler.elasticity.leasing.host import Host

if TYPE_CHECKING:
    from collections.abc import Mapping

    from experiments.elasticity.loads import Floats
    from experiments.elasticity.policy import First
    from experiments.elasticity.scenario import Scenario, SimulatedComponent, SimulatedOffer
    from scheduler.elasticity.leasing.decision import LeasingDecision
    from scheduler.elasticity.leasing.host import HostStatus

_ROUNDING = 1e-9


@dataclass
class Running:
    """An executor.

    Attributes:
        component: Its component.
        from_s: When it begins to work, s.
        until_s: When it ends, s.
        leaves: Whether its end has been decided on.
    """

    component: str
    from_s: float
    until_s: float = math.inf
    leaves: bool = False


@dataclass
class Leased:
    """A host.

    Attributes:
        name: Of the request for it.
        ready_s: When it is up, s.
        paid_until_s: Until when it is paid, s.
        units: Billing units paid so far.
        executors: What runs there, or will.
        images: Components that have run there.
        goes_s: When it is given back, s; None: not decided.
        slow: (n_minutes,) whether it is disturbed from outside in each minute of the run.
    """

    name: str
    ready_s: float
    paid_until_s: float
    slow: np.ndarray
    units: int = 1
    executors: list[Running] = field(default_factory=list)
    images: set[str] = field(default_factory=set)
    goes_s: float | None = None
    _last: Host | None = field(default=None, init=False, repr=False)
    _staying: Counter[str] | None = field(default=None, init=False, repr=False)
    _settled_s: float | None = field(default=None, init=False, repr=False)

    @property
    def staying(self) -> Counter[str]:
        """How many executors of each component run there, or will, and whose end is not decided on."""
        if self._staying is None:
            self._staying = Counter(each.component for each in self.executors if not each.leaves)
        return self._staying

    @property
    def settled_s(self) -> float:
        """From when on exactly these executors work, s; infinite while the end of one is decided on."""
        if self._settled_s is None:
            begins_s = (math.inf if each.leaves else each.from_s for each in self.executors)
            self._settled_s = max(begins_s, default=0.0)
        return self._settled_s

    def seen(self, now_s: float, offer: SimulatedOffer) -> Host:
        """Return the host as a policy sees it, with all that was decided."""
        up: HostStatus = "ready" if now_s >= self.ready_s else "booting"
        status: HostStatus = "leaving" if self.goes_s is not None else up
        last = self._last
        # most hosts are as they were a moment before, and to make one takes longer than all else here
        if last is None or last.paid_until_s != self.paid_until_s or last.status != status:
            executors, images = dict(self.staying), frozenset(self.images)
            last = Host(self.name, offer.cpu, offer.memory_mb, self.paid_until_s, executors, images, status)
            self._last = last
        return last

    def start(self, component: str, from_s: float) -> None:
        """Let an executor begin to work, which leaves the image of its component behind."""
        self.executors.append(Running(component, from_s))
        self.images.add(component)
        self._last = self._staying = self._settled_s = None

    def stop(self, component: str, at_s: float) -> None:
        """Let an executor end."""
        staying = (each for each in self.executors if each.component == component and not each.leaves)
        # what has not begun to work is missed least
        last = max(staying, key=lambda each: each.from_s)
        last.until_s, last.leaves = at_s, True
        self._last = self._staying = self._settled_s = None

    def pass_until(self, until_s: float) -> None:
        """Forget executors that have ended."""
        if math.isinf(self.settled_s):
            self.executors = [each for each in self.executors if each.until_s > until_s]
            self._settled_s = None


@dataclass(frozen=True)
class Counts:
    """What there is at a moment of a run.

    Attributes:
        executors: Of each component, those that are to come included.
        hosts: Leased hosts, booting ones included.
        units: Billing units paid so far.
        leases: Hosts asked for so far.
        releases: Hosts given back so far.
        reconfigurations: Decisions so far that changed executors; those who decide count them.
    """

    executors: Mapping[str, int]
    hosts: int
    units: int
    leases: int
    releases: int
    reconfigurations: int = 0

    def with_those_of(self, other: Counts) -> Counts:
        """Return what there is in two regions together, which share no component."""
        return Counts(
            {**self.executors, **other.executors},
            self.hosts + other.hosts,
            self.units + other.units,
            self.leases + other.leases,
            self.releases + other.releases,
        )


class Fleet:
    """The hosts of a run, or of one region of it.

    Args:
        scenario: The scenario.
        offer: What is leased.
        seed: Of disturbances.
        first: What there is to begin with, and works at once; no other component is ever here.

    Attributes:
        hosts: Those that are leased, the oldest lease first.
        units: Billing units paid so far, those of hosts that are gone included.
        leases: Hosts asked for so far, the first ones not counted.
        releases: Hosts given back so far.
    """

    def __init__(self, scenario: Scenario, offer: SimulatedOffer, seed: int, first: First) -> None:
        self._scenario, self._offer, self._seed = scenario, offer, seed
        self._components = {each.name: each for each in scenario.component if each.name in first.executors}
        self._numbers = 0
        self._paused: dict[str, tuple[float, float]] = {}
        self._gone_units = 0
        self._executors: dict[str, int] | None = None
        self.leases = self.releases = 0
        self.hosts: list[Leased] = []
        for name, count in first.executors.items():
            for _ in range(count):
                self._home(self._components[name]).start(name, 0.0)
        for _ in range(first.hosts - len(self.hosts)):
            self._first_host()

    @property
    def units(self) -> int:
        """Billing units paid so far."""
        return self._gone_units + sum(each.units for each in self.hosts)

    def seen(self, now_s: float) -> tuple[Host, ...]:
        """Return the hosts as a policy sees them."""
        return tuple(each.seen(now_s, self._offer) for each in self.hosts)

    def carry_out(self, decision: LeasingDecision, now_s: float) -> None:
        """Begin what was decided; times of boot and start pass from now on."""
        by_name = {each.name: each for each in self.hosts}
        for stop in decision.stops:
            by_name[stop.host].stop(stop.component, now_s)
        for request in decision.leases:
            by_name[request] = self._new(request, now_s, self._offer.boot_s)
            self.hosts.append(by_name[request])
            self.leases += 1
        for start in decision.starts:
            self._start(by_name[start.host], start.component, now_s)
        for move in decision.moves:
            from_s = self._start(by_name[move.target], move.component, now_s)
            by_name[move.source].stop(move.component, from_s)
        for release in decision.releases:
            by_name[release.host].goes_s = max(now_s, release.at_s)
            self.releases += 1
        self._executors = None
        changed = [each.component for each in (*decision.stops, *decision.starts)]
        changed += [each.component for each in decision.moves]
        self._paused.update(dict.fromkeys(changed, (now_s, now_s + self._scenario.pause_s)))

    def pass_until(self, until_s: float) -> None:
        """Give back what goes, and pay for what stays, up to a time."""
        for host in list(self.hosts):
            gone = host.goes_s is not None and host.goes_s <= until_s + _ROUNDING
            last_s = host.goes_s if gone and host.goes_s is not None else until_s
            while host.paid_until_s < last_s - _ROUNDING:
                host.paid_until_s += self._offer.billing_unit_s
                host.units += 1
            if gone:
                self.hosts.remove(host)
                self._executors = None
                self._gone_units += host.units
            else:
                host.pass_until(until_s)

    def working(self, times_s: Floats) -> dict[str, Floats]:
        """Return how many executors of each component work in each step, in executors at full speed.

        Args:
            times_s: (n,) beginnings of the steps, n >= 1.
        """
        begin_s, end_s = float(times_s[0]), float(times_s[-1])
        even = not self._scenario.disturbance.per_minute
        even = even and all(host.settled_s <= begin_s for host in self.hosts)
        counts = self.executors() if even else dict.fromkeys(self._components, 0)
        working = {name: np.full(len(times_s), float(count)) for name, count in counts.items()}
        for host in () if even else self.hosts:
            speed = self._speed(host, times_s)
            throughout: dict[str, int] = {}
            for each in host.executors:
                if each.from_s <= begin_s and each.until_s > end_s:
                    throughout[each.component] = throughout.get(each.component, 0) + 1
                elif each.from_s <= end_s and each.until_s > begin_s:
                    works = (times_s >= each.from_s) & (times_s < each.until_s)
                    working[each.component] += np.where(works, speed, 0.0)
            for component, count in throughout.items():
                working[component] += count * speed
        for component, (from_s, until_s) in self._paused.items():
            if until_s > begin_s:
                working[component][(times_s >= from_s) & (times_s < until_s)] = 0.0
        return working

    def executors(self) -> Mapping[str, int]:
        """Return how many there are of each component, those that are to come included."""
        if self._executors is None:
            self._executors = dict.fromkeys(self._components, 0)
            for host in self.hosts:
                for component, count in host.staying.items():
                    self._executors[component] += count
        return self._executors

    def counts(self) -> Counts:
        """Return what there is now, and what has been paid and changed so far."""
        return Counts(self.executors(), len(self.hosts), self.units, self.leases, self.releases)

    def paused_since(self, since_s: float) -> bool:
        """Return whether any component here has stood still after a time."""
        return any(until_s > since_s for _, until_s in self._paused.values())

    def _home(self, component: SimulatedComponent) -> Leased:
        """Return a host with room before the run begins."""
        for host in self.hosts:
            used = [self._components[each.component] for each in host.executors]
            cpu = self._offer.cpu - sum(each.cpu for each in used)
            memory = self._offer.memory_mb - sum(each.memory_mb for each in used)
            if cpu >= component.cpu and memory >= component.memory_mb:
                return host
        return self._first_host()

    def _first_host(self) -> Leased:
        self.hosts.append(self._new(f"first-{len(self.hosts) + 1}", 0.0, boot_s=0.0))
        return self.hosts[-1]

    def _speed(self, host: Leased, times_s: Floats) -> Floats | float:
        disturbance = self._scenario.disturbance
        if not disturbance.per_minute:
            return 1.0
        minutes = (times_s // 60.0).astype(np.int64)
        slow = host.slow[minutes] & (times_s - minutes * 60.0 < disturbance.lasts_s)
        return np.where(slow, disturbance.speed, 1.0)

    def _new(self, name: str, now_s: float, boot_s: float) -> Leased:
        ready_s = now_s + boot_s
        billed_from_s = ready_s if self._scenario.bill_from == "ready" else now_s
        chance = np.random.default_rng((self._seed, self._numbers))
        self._numbers += 1
        minutes = math.ceil(self._scenario.steps * self._scenario.step_s / 60.0) + 1
        slow = chance.random(minutes) < self._scenario.disturbance.per_minute
        return Leased(name, ready_s, billed_from_s + self._offer.billing_unit_s, slow)

    def _start(self, host: Leased, component: str, now_s: float) -> float:
        cached = component in host.images
        takes_s = self._scenario.start_cached_s if cached else self._scenario.start_s
        from_s = max(now_s, host.ready_s) + takes_s
        host.start(component, from_s)
        return from_s
