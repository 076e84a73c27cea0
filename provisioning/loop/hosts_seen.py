"""All hosts as a policy sees them: those that are there, and those that were asked for. Pure."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from provisioning.loop.hosts_that_stay import hosts_kept_free, hosts_of_unknown, hosts_that_stay
from provisioning.loop.pool import FOR_EVER_S, NOTHING, Needs, qualified
from scheduler.elasticity.layers.one_pool.parameters import topology_of
from scheduler.elasticity.leasing.host import Host

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from provisioning.cluster.look import ClusterLook
    from provisioning.loop.memory import Memory
    from provisioning.loop.pool import Pool
    from provisioning.providers.provider import Lease
    from scheduler.elasticity.leasing.host import HostStatus, Offer

_RELEASING_EMPTY = ("threshold", "layers")
"""Policies that give a host back because nothing runs there that they scale."""


def hosts_seen(
    pool: Pool, look: ClusterLook, leases: Sequence[Lease], memory: Memory, now_s: float
) -> tuple[Host, ...]:
    """Return all hosts: those that are not leased first, then leases from the oldest on.

    A host that is not up yet has the name of its request.

    Args:
        pool: Hosts and topologies.
        look: What there is.
        leases: Of hosts.
        memory: What is to be.
        now_s: Time, s since 1970.
    """
    offer = pool.policy_offer(look)
    leased, live = {each.host for each in leases}, {each.host for each in leases if each.live}
    running = _running(pool, look)
    # its owner may have stopped a topology since that was to start on a host
    scaled = {full for full in pool.running(look) if topology_of(full) in pool.scaled}
    stay = hosts_that_stay(pool, look, memory, leases, now_s)
    # what is kept free takes nothing; nor, to what releases each host without executors, does what others use
    releases_empty = pool.settings.policy.kind in _RELEASING_EMPTY
    closed = stay | look.banned if releases_empty else hosts_kept_free(look, memory, leases, now_s)
    own = [host for host in look.supervisors if host not in leased]
    # what runs where the lease has ended is about to end; without it as much would be started elsewhere
    ended = [host for host in look.supervisors if host in leased - live and running[host].executors]
    shut = {host for host in look.banned if releases_empty and not running[host].executors}
    found = [_host(pool, host, look, running[host], now_s + FOR_EVER_S, leaving=host in shut) for host in own]
    found += [_host(pool, host, look, running[host], now_s, leaving=True) for host in ended]
    for each in leases:
        if not each.live:
            continue
        if each.request_id in memory.requests:
            found.append(_to_come(each.request_id, memory, scaled, offer, now_s))
        elif each.host in look.supervisors:
            leaving = each.host in memory.draining or each.release_at_s is not None
            leaving |= each.host in closed and not running[each.host].executors
            ends_s = now_s + FOR_EVER_S if each.host in stay else _paid_until_s(each, offer, now_s)
            found.append(_host(pool, each.host, look, running[each.host], ends_s, leaving=leaving))
        elif each.host:
            found.append(_lost(each, offer, now_s))
    known = {each.request_id for each in leases}
    found += [_to_come(name, memory, scaled, offer, now_s) for name in memory.requests if name not in known]
    return tuple(found)


@dataclass
class _Running:
    """What runs on a host: executors that are scaled, and what all others take."""

    executors: Counter[str] = field(default_factory=Counter)
    cpu: float = 0.0
    memory_mb: float = 0.0
    scaled_cpu: float = 0.0
    scaled_memory_mb: float = 0.0
    is_full: bool = False

    def add(self, full: str, needs: Needs) -> None:
        """Add an executor that is scaled."""
        self.executors[full] += 1
        self.scaled_cpu, self.scaled_memory_mb = (
            self.scaled_cpu + needs.cpu,
            self.scaled_memory_mb + needs.memory_mb,
        )

    def take(self, needs: Needs) -> None:
        """Add what an executor that is not scaled takes."""
        self.cpu, self.memory_mb = self.cpu + needs.cpu, self.memory_mb + needs.memory_mb


def _running(pool: Pool, look: ClusterLook) -> Mapping[str, _Running]:
    """Return what runs on each host: executors that are scaled, and what the others take.

    Topologies of which the settings are known, but which are not scaled, are among the others.
    """
    found: dict[str, _Running] = defaultdict(_Running)
    scaled, by_resources = frozenset(pool.scaled), pool.settings.capacity == "resources"
    for name, topology in look.topologies.items():
        is_scaled = topology.status == "ACTIVE" and name in scaled
        for each in topology.executors:
            component, here = topology.components[each.component], found[each.host]
            if component.inputs and is_scaled:
                here.add(qualified(name, each.component), pool.needs(name, component))
            else:
                here.take(pool.needs(name, component))
        for one in topology.storms:
            found[one.host].take(Needs(one.cpu, one.memory_mb) if by_resources else Needs(1.0, 1.0))
    # how much workers take that are not known is not known, either; on a banned host nothing more starts
    for host in hosts_of_unknown(look) | look.banned:
        found[host].is_full = True
    return found


def _host(
    pool: Pool,
    host: str,
    look: ClusterLook,
    running: _Running,
    paid_until_s: float,
    *,
    leaving: bool = False,
) -> Host:
    """Return a host without what runs there and is not scaled."""
    size = pool.size(host, look)
    cpu, memory_mb = size.cpu - running.cpu, size.memory_mb - running.memory_mb
    if running.is_full:
        cpu, memory_mb = min(cpu, running.scaled_cpu), min(memory_mb, running.scaled_memory_mb)
    return Host(
        host,
        max(NOTHING, cpu),
        max(NOTHING, memory_mb),
        paid_until_s,
        dict(running.executors),
        status="leaving" if leaving else "ready",
    )


def _lost(lease: Lease, offer: Offer, now_s: float) -> Host:
    """Return a host that Nimbus does not list any more: it is paid for, and takes nothing."""
    return Host(lease.host, offer.cpu, offer.memory_mb, lease.paid_until_s or now_s, status="leaving")


def _to_come(name: str, memory: Memory, scaled: Collection[str], offer: Offer, now_s: float) -> Host:
    """Return a host that is not up yet, with what is to start there; what has no slot keeps one to itself."""
    request = memory.requests[name]
    starts = {full: n for full, n in request.starts.items() if full in scaled}
    status: HostStatus = "leaving" if request.room_for else "booting"
    return Host(name, offer.cpu, offer.memory_mb, now_s + offer.billing_unit_s, starts, status=status)


def _paid_until_s(lease: Lease, offer: Offer, now_s: float) -> float:
    """Return when the paid time of a host ends; where that is not known, as if it was up at once."""
    if lease.paid_until_s is not None:
        return lease.paid_until_s
    unit_s = offer.billing_unit_s
    return lease.leased_at_s + unit_s * (math.floor((now_s - lease.leased_at_s) / unit_s) + 1)
