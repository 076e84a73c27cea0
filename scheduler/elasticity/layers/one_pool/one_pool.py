"""A round of both layers of paper 004 on one pool of hosts, as other policies decide it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from scheduler.elasticity.layers import layers
from scheduler.elasticity.layers.observation import LayersObservation
from scheduler.elasticity.layers.one_pool.basis import Basis, kept_or_new
from scheduler.elasticity.layers.one_pool.parameters import POOL, topology_of
from scheduler.elasticity.layers.one_pool.samples import samples_of
from scheduler.elasticity.layers.one_pool.state import since_clock_was_set, with_bases
from scheduler.elasticity.layers.parameters import Region
from scheduler.elasticity.leasing.decision import Reason

if TYPE_CHECKING:
    from scheduler.elasticity.layers.one_pool.parameters import OnePoolParameters
    from scheduler.elasticity.layers.one_pool.state import OnePoolState
    from scheduler.elasticity.leasing.decision import LeasingDecision
    from scheduler.elasticity.leasing.observation import Observation


def decide(
    observation: Observation, state: OnePoolState, parameters: OnePoolParameters, seed: int
) -> tuple[LeasingDecision, OnePoolState]:
    """Decide a round.

    A topology of which something is not known that its managers are made from is held until it is, and so
    are hosts.

    Args:
        observation: What is known now.
        state: What the last round returned.
        parameters: Of the managers.
        seed: Without effect: nothing is drawn.

    Raises:
        ModelError: The observation names a component that the parameters do not, or managers are refused
            with the service times that were measured.
    """
    observation.check_names(parameters.components)
    now_s = observation.now_s
    state = since_clock_was_set(state, now_s)
    fresh = tuple(each for each in observation.readings if each.age_s <= parameters.sample_age_max_s)
    readings = {each.component: each for each in fresh}
    bases, held = dict[str, Basis](), list[Reason]()
    for topology, components in parameters.by_topology().items():
        stated, before = parameters.stated(topology), state.bases.get(topology)
        basis, why = kept_or_new(before, components, readings, stated, now_s)
        if basis is not None:
            bases[topology] = basis
        elif why:
            held.append(Reason("held", topology, why))
    made = parameters.layers(bases)
    # topologies that are paused keep what was learned of them
    state = with_bases(state, {**state.bases, **bases}, made, parameters.region)
    samples = samples_of(replace(observation, readings=fresh), state, made, bases)
    seen = LayersObservation(now_s, {POOL: observation.hosts}, samples)
    managed = {each.component.name for each in made.operators if each.manager is not None}
    unknown = {each.about for each in held}
    whole = not held and managed <= samples.keys()
    if not whole:
        # how busy hosts are is not known, which is not a share of 0
        made = replace(made, regions={POOL: Region(parameters.offer)})
        held.append(Reason("held", POOL, "hosts stay while not all that runs there is measured"))
    decisions, after = layers.decide(seen, state.layers, made, seed)
    if not whole:
        after = replace(after, regions_asked_s=state.layers.regions_asked_s, unmet=state.layers.unmet)
    decision = decisions[POOL]
    waiting = state.waiting
    if after.asked_s != state.layers.asked_s:
        waiting = {each.component: each.waiting for each in readings.values()}
        held += [
            Reason("held", each.name, "nothing has come to it so far")
            for each in parameters.components
            if topology_of(each.name) not in unknown and each.name not in managed
        ]
    decision = replace(decision, reasons=(*decision.reasons, *held))
    return decision, replace(state, waiting=waiting, layers=after)
