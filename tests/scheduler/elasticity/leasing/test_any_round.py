"""What holds in every round of each policy, whatever the hosts and readings are."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provisioning.loop.codec import codec
from scheduler.elasticity.leasing import btu, threshold
from scheduler.elasticity.leasing.btu_parameters import BtuParameters
from scheduler.elasticity.leasing.by_load import sized
from scheduler.elasticity.leasing.by_load.sized_parameters import SizedParameters
from scheduler.elasticity.leasing.by_load.sizing import SizedState
from scheduler.elasticity.leasing.decision import LeasingDecision
from scheduler.elasticity.leasing.observation import ComponentReading, Observation
from scheduler.elasticity.leasing.state import LeasingState
from scheduler.elasticity.leasing.threshold import ThresholdParameters
from tests.scheduler.elasticity.leasing.carried_out import carried_out
from tests.scheduler.elasticity.leasing.example import COMPONENTS, OFFER, A, F, R, host

if TYPE_CHECKING:
    from scheduler.elasticity.leasing.host import Host

POLICIES: dict[str, tuple[Any, Any, Any]] = {
    "btu": (btu.decide, BtuParameters, LeasingState()),
    "threshold": (threshold.decide, ThresholdParameters, LeasingState()),
    "sized": (sized.decide, SizedParameters, SizedState()),
}
PAUSES = st.sampled_from([0.0, 8.0])
LIMITED = (replace(A, most=5), replace(F, least=2), R)

counts = st.fixed_dictionaries({"A": st.integers(0, 2), "F": st.integers(0, 2), "R": st.integers(0, 1)})
hosts = st.lists(
    st.tuples(counts, st.sampled_from([0, 10, 30, 31, 900]), st.sampled_from(["ready", "ready", "booting"])),
    min_size=1,
    max_size=5,
).map(
    lambda rows: [
        host(f"h{k}", 300.0 + end, there, status=status) for k, (there, end, status) in enumerate(rows)
    ]
)
readings = st.tuples(
    *(
        st.builds(
            ComponentReading,
            st.just(each),
            st.lists(st.floats(0, 3000), max_size=6).map(tuple),
            st.sampled_from([0.0, 0.5, 5.0, 51.0, 251.0]),
            in_service=st.sampled_from([0.0, 2.0]),
            age_s=st.sampled_from([0.0, 0.0, 0.0, 200.0]),
            demand_per_s=st.sampled_from([0.0, 0.3, 1.0, 2.5]),
            service_ms=st.sampled_from([100.0, 1000.0]),
        )
        for each in "AFR"
    )
)
choices = st.fixed_dictionaries(
    {
        "queue_reading": st.sampled_from(["waiting", "in-system"]),
        "hosts_min": st.integers(1, 2),
        "hosts_max": st.sampled_from([None, 6]),
    }
)


def executors(there: Any) -> Counter[str]:
    return Counter({each: sum(one.count(each) for one in there) for each in COMPONENTS})


def fits(one: Host) -> bool:
    return min(one.free_cpu(COMPONENTS), one.free_memory_mb(COMPONENTS)) >= -1e-6


@pytest.mark.parametrize("policy", POLICIES)
@given(hosts, readings, choices, PAUSES)
def test_a_round_keeps_its_promises(
    policy: str, before: Any, read: Any, chosen: dict[str, Any], pause_s: float
) -> None:
    """Executors are conserved, limits kept, hosts not overfilled, and what is released is idle."""
    decide, kind, first = POLICIES[policy]
    components = tuple(replace(each, pause_s=pause_s) for each in LIMITED)
    parameters = kind(components=components, offer=OFFER, **chosen)
    observation = Observation(300.0, tuple(before), read)
    decision, state = decide(observation, first, parameters, seed=1)
    after = carried_out(before, decision, OFFER, 300.0)
    had, has = executors(before), executors(after)
    started = Counter(each.component for each in decision.starts)
    stopped = Counter(each.component for each in decision.stops)
    for each in LIMITED:
        assert has[each.name] == had[each.name] + started[each.name] - stopped[each.name]
        assert has[each.name] >= min(each.least, had[each.name])
        assert each.most is None or has[each.name] <= max(each.most, had[each.name])
    full = {each.name for each in before if not fits(each)}
    assert all(fits(each) or each.name in full for each in after)
    assert not any(each.executors for each in after if each.status == "leaving")
    staying = sum(each.status == "ready" for each in after)
    assert staying >= min(parameters.hosts_min, sum(each.status == "ready" for each in before))
    assert parameters.hosts_max is None or len(after) <= parameters.hosts_max
    held = {each.about for each in decision.reasons if each.verdict == "held"}
    assert held >= {each.component for each in read if each.age_s > 120}
    assert not held & (set(started) | set(stopped))

    again, _ = decide(replace(observation, hosts=after), state, parameters, seed=1)
    assert replace(again, reasons=()) == LeasingDecision(), "the outcome of a round is left alone"


@pytest.mark.parametrize("policy", POLICIES)
@given(hosts, readings)
def test_a_round_is_decided_again_to_the_same(policy: str, before: Any, read: Any) -> None:
    """Whatever the seed is, and in whichever order readings come."""
    decide, kind, first = POLICIES[policy]
    parameters = kind(components=(A, F, R), offer=OFFER)
    one, state = decide(Observation(300.0, tuple(before), read), first, parameters, seed=1)
    other, after = decide(Observation(300.0, tuple(before), read[::-1]), first, parameters, seed=2)
    assert one == other
    as_json = codec(type(state)).dump_python
    assert as_json(state, mode="json") == as_json(after, mode="json")
