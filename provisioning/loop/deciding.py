"""A policy is asked, and what it wants becomes what the cluster is to be, within the limits. Pure."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pydantic import ValidationError

from provisioning.loop.codec import codec
from provisioning.loop.hosts_that_stay import hosts_that_stay
from provisioning.loop.memory import HOUR_S, Draining, Request, Wanted
from provisioning.loop.offers import leased_by_offer, to_lease
from provisioning.loop.refusing import refused_now
from provisioning.loop.room_left import RoomLeft
from scheduler.base.checks import ModelError
from scheduler.elasticity.layers.kinds import POLICIES
from scheduler.elasticity.layers.one_pool.parameters import topology_of
from scheduler.elasticity.useful import least_equal, useful

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from provisioning.cluster.look import ClusterLook
    from provisioning.loop.memory import Memory
    from provisioning.loop.pool import Pool
    from provisioning.providers.provider import Lease
    from scheduler.elasticity.leasing.component import Component
    from scheduler.elasticity.leasing.decision import LeasingDecision
    from scheduler.elasticity.leasing.observation import ComponentReading, Observation
    from scheduler.elasticity.leasing.parameters import LeasingParameters

_KNOWING_ALL = ("layers",)
"""Policies that share out what there is among all topologies, and cannot be asked without some of them."""


@dataclass(frozen=True)
class Outcome:
    """What came of asking a policy.

    Attributes:
        memory: With what is to be.
        decision: Of the policy.
        limited: Which limit keeps topologies from changing; empty if none does.
        unhelpful: Components of which as many executors as were wanted do no more than there are.
        unleased: Hosts that are not asked for, as no offer has so many; to the policy they are lost.
        left_out: Topologies of which the policy was not let know anything, as they may not change now.
        in_vain: Whether nothing of the decision is done.
    """

    memory: Memory
    decision: LeasingDecision
    limited: str = ""
    unhelpful: tuple[str, ...] = ()
    unleased: int = 0
    left_out: tuple[str, ...] = ()
    in_vain: bool = False


def without_topologies(observation: Observation, names: Collection[str]) -> Observation:
    """Return what a policy sees that is not to change some topologies: of these it reads nothing."""
    readings = tuple(each for each in observation.readings if topology_of(each.component) not in names)
    return replace(observation, readings=readings)


def of_components(
    readings: Iterable[ComponentReading], components: Collection[Component]
) -> tuple[ComponentReading, ...]:
    """Return the readings of what is scaled: a topology that its owner has stopped may go on reporting."""
    names = {each.name for each in components}
    return tuple(each for each in readings if each.component in names)


def ask(
    pool: Pool, parameters: LeasingParameters, observation: Observation, memory: Memory
) -> tuple[LeasingDecision, Memory]:
    """Return what a policy decides, and the memory with its new state.

    Raises:
        ModelError: Parameters are refused on what was observed.
    """
    kind = pool.settings.policy.kind
    state_codec = codec(type(POLICIES[kind].first))
    state = None
    if memory.kind == kind and memory.policy is not None:
        try:
            state = state_codec.validate_python(memory.policy)
        except ValidationError:
            state = None  # of another version: it begins anew, as after another policy
    if state is None:
        state = POLICIES[kind].first
        if memory.policy is not None:
            # it numbers its requests from 1 again
            memory = replace(memory, instance=_another(memory.instance))
    try:
        decision, state = POLICIES[kind].decide(observation, state, parameters, 0)
    except ModelError as error:
        raise error.under("policy.parameters") from error
    return decision, replace(memory, kind=kind, policy=state_codec.dump_python(state, mode="json"))


def _another(instance: str) -> str:
    base, _, number = instance.partition("-")
    return f"{base}-{int(number or 1) + 1}"


def decided(
    pool: Pool,
    parameters: LeasingParameters,
    observation: Observation,
    memory: Memory,
    world: tuple[ClusterLook, tuple[Lease, ...]],
) -> Outcome:
    """Ask a policy and say how the cluster is to be.

    Where a limit keeps topologies from changing, the policy is asked again as if it knew nothing of them. Of
    a decision nothing is left out: if it changes them all the same, or a policy knows topologies only all
    together, none of it is done, and it is decided again in the next round.

    Args:
        pool: Hosts and topologies.
        parameters: Of the policy.
        observation: What it sees.
        memory: From the rounds before.
        world: The cluster and the leases that the observation is made from.
    """
    look, leases = world
    decision, after = ask(pool, parameters, observation, memory)
    limited: dict[str, str] = {}
    while touched := _limited(pool, memory, decision, observation.now_s):
        why = "; ".join((limited | touched).values())
        if pool.settings.policy.kind in _KNOWING_ALL or touched.keys() <= limited.keys():
            return Outcome(memory, decision, why, left_out=tuple(limited), in_vain=True)
        # these are held, and all else goes on
        limited |= touched
        observation = without_topologies(observation, limited)
        decision, after = ask(pool, parameters, observation, memory)
    wanted, unhelpful = _wanted(decision, observation, look, memory, parameters)
    stay, most = hosts_that_stay(pool, look, memory, leases, observation.now_s), pool.hosts_most(look)
    after = replace(
        after,
        wanted=wanted,
        requests=_requests(
            _within(decision, observation, after, stay, most), after, pool, world, observation.now_s
        ),
        draining={**memory.draining, **_draining(decision, leases, stay)},
    )
    unleased = sum(f"{after.instance}.{each}" not in after.requests for each in decision.leases)
    why = "; ".join(limited.values())
    return Outcome(after, decision, why, unhelpful, unleased, left_out=tuple(limited))


def _within(
    decision: LeasingDecision,
    observation: Observation,
    memory: Memory,
    stay: Collection[str],
    most: int | None,
) -> LeasingDecision:
    """Return a decision without the hosts that are too many with those that a policy does not count."""
    if most is None:
        return decision
    rooms = sum(bool(each.room_for) for each in memory.requests.values())
    there = rooms + sum(each.status != "leaving" or each.name in stay for each in observation.hosts)
    return replace(decision, leases=decision.leases[: max(0, most - there)])


def _draining(
    decision: LeasingDecision, leases: tuple[Lease, ...], stay: Collection[str]
) -> dict[str, Draining]:
    """Return the hosts that a decision gives back; what goes before its paid time ends goes at once."""
    of_host = {each.host: each for each in leases if each.live and each.host not in stay}
    draining = {}
    for each in decision.releases:
        lease = of_host.get(each.host)
        if lease is not None:
            paid_s = max(each.at_s, lease.paid_until_s or 0.0)
            draining[each.host] = Draining(lease.lease_id, paid_s, at_once=each.at_s < paid_s)
    return draining


def _wanted(
    decision: LeasingDecision,
    observation: Observation,
    look: ClusterLook,
    memory: Memory,
    parameters: LeasingParameters,
) -> tuple[dict[str, Wanted], tuple[str, ...]]:
    """Return what topologies are to have, by changes on hosts that are up."""
    to_come = {each.name for each in observation.hosts if each.status == "booting"} | set(decision.leases)
    change = Counter[str]()
    change.update(each.component for each in decision.starts if each.host not in to_come)
    change.subtract(each.component for each in decision.stops if each.host not in to_come)
    room = RoomLeft.after(decision, observation, parameters)
    most = {each.name: each.most for each in parameters.components if each.most is not None}
    return with_changes(memory, change, look, observation.now_s, Room(room, most))


@dataclass(frozen=True)
class Room:
    """What bounds numbers of executors.

    Attributes:
        left: On hosts after the changes; None: nothing.
        most: Executors by `topology/component`.
    """

    left: RoomLeft | None
    most: Mapping[str, int]


def with_changes(
    memory: Memory, change: Mapping[str, int], look: ClusterLook, now_s: float, room: Room
) -> tuple[dict[str, Wanted], tuple[str, ...]]:
    """Return what topologies are to have after changes, and the components of which a change does nothing.

    Numbers that make no difference are rounded: up where there is room for it, else down. What did not come
    about before is not asked for again for a while.

    Args:
        memory: What topologies are to have before, and what was refused.
        change: By `topology/component`.
        look: What there is.
        now_s: Time, s since 1970.
        room: Bounds.
    """
    wanted, unhelpful, refused = dict(memory.wanted), [], refused_now(memory, now_s)
    for full, more in sorted(change.items()):
        name, _, component = full.partition("/")
        topology = look.topologies.get(name)
        if topology is None or component not in topology.components or not more:
            continue  # its owner has started another version meanwhile
        there = topology.counts()
        before = wanted[name].executors if name in wanted else {}
        now, tasks = before.get(component, there[component]), topology.components[component].tasks
        plain = min(tasks, max(1, now + more))
        count = useful(tasks, plain)
        fits = count <= room.most.get(full, tasks) and (
            count == plain or (room.left is not None and room.left.take(full, count - plain))
        )
        if not fits:
            count = least_equal(tasks, plain)
        in_vain = full in refused and count >= refused[full]
        if in_vain or count == now or (count > now) != (more > 0):
            unhelpful.append(full)
            continue
        wanted[name] = Wanted({**before, component: count}, there, topology.topology_id)
    return wanted, tuple(unhelpful)


def _requests(
    decision: LeasingDecision,
    memory: Memory,
    pool: Pool,
    world: tuple[ClusterLook, tuple[Lease, ...]],
    now_s: float,
) -> dict[str, Request]:
    """Return what is asked for, without those hosts that no offer has."""
    (look, leases), requests = world, dict(memory.requests)
    leased = leased_by_offer(leases, requests)
    limits, scaled = pool.settings.limits, pool.running(look)
    for each in decision.leases:
        offer = to_lease(pool.offers, leased, limits, memory.lost_s, now_s)
        if offer is not None:
            leased[offer.name] += 1
            requests[f"{memory.instance}.{each}"] = Request(offer.name, now_s, {})
    for sign, changes in ((1, decision.starts), (-1, decision.stops)):
        for change in changes:
            name = change.host if change.host in requests else f"{memory.instance}.{change.host}"
            if name in requests:
                starts = Counter({key: n for key, n in requests[name].starts.items() if key in scaled})
                starts[change.component] += sign
                # of a start that is not there any more the id stays: then it is decided anew
                now = {key: each.topology_id for key, each in look.topologies.items()}
                ids = {**now, **requests[name].topology_ids}
                ids = {key: ids[key] for key in map(topology_of, +starts) if key in ids}
                requests[name] = replace(requests[name], starts=+starts, topology_ids=ids)
    return requests


def _limited(pool: Pool, memory: Memory, decision: LeasingDecision, now_s: float) -> dict[str, str]:
    """Return the topologies that a decision changes and that may not change now, and why."""
    most, found = pool.settings.limits.reconfigurations_per_hour, {}
    changing = {topology_of(each.component) for each in (*decision.starts, *decision.stops)}
    changing |= {topology_of(each.component) for each in decision.moves}
    for name in sorted(changing):
        recent = [each for each in memory.changes.get(name, ()) if 0.0 <= now_s - each < HOUR_S]
        if len(recent) >= most:
            found[name] = f"{name} may be changed {most} times an hour, and was"
    return found
