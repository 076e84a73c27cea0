"""Which requests of operator managers are granted."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.elasticity.application_manager.asking import ApplicationObservation, Asked
from scheduler.elasticity.application_manager.bucket import Bucket
from scheduler.elasticity.application_manager.granting import (
    ApplicationDecision,
    ApplicationParameters,
    ApplicationState,
    decide,
)
from scheduler.elasticity.operator_manager.request import OperatorRequest


def asked(
    component: str,
    action: int,
    *,
    region: str = "north",
    load: float = 1.0,
    gain: float = 0.0,
    pause_s: float = 0.0,
) -> Asked:
    request = OperatorRequest(component, action, "asked" if action else "kept", "", 1.0 - gain, 1.0)
    return Asked(request, region, load, pause_s)


def decided(
    *requests: Asked,
    free: dict[str, int] | None = None,
    now_s: float = 0.0,
    state: ApplicationState | None = None,
    frozen: bool = False,
    **changed: Any,
) -> tuple[ApplicationDecision, ApplicationState]:
    observation = ApplicationObservation(now_s, requests, free or {}, frozen)
    return decide(observation, state or ApplicationState(), ApplicationParameters(**changed), seed=0)


def statuses(decision: ApplicationDecision) -> dict[str, str]:
    return {each.component: each.status for each in decision.grants}


def test_the_last_place_goes_to_the_latest_one() -> None:
    decision, _ = decided(asked("a", 1, load=1.2), asked("b", 1, load=1.5), free={"north": 1})
    assert statuses(decision) == {"b": "granted", "a": "conflict"}
    assert [each.action for each in decision.grants] == [1, 0]
    assert decision.unmet == {"north": 1}


def test_of_several_executors_as_many_are_granted_as_there_are_places() -> None:
    """The others are places that the region lacks."""
    decision, _ = decided(asked("a", 3, load=1.5), asked("b", 2), asked("c", -1), free={"north": 1})
    assert [(each.component, each.action, each.status) for each in decision.grants] == [
        ("c", -1, "granted"),
        ("a", 2, "granted"),
        ("b", 0, "conflict"),
    ]
    assert decision.unmet == {"north": 3}


def test_the_last_place_may_go_to_the_one_that_expects_most() -> None:
    decision, _ = decided(
        asked("a", 1, load=1.2, gain=0.3), asked("b", 1, load=1.5, gain=0.2), free={"north": 1}, order="gain"
    )
    assert statuses(decision) == {"a": "granted", "b": "conflict"}


def test_of_equals_the_first_by_name_comes_first() -> None:
    decision, _ = decided(asked("b", 1), asked("a", 1), free={"north": 1})
    assert statuses(decision) == {"a": "granted", "b": "conflict"}


def test_what_is_given_back_is_given_away_in_the_same_change() -> None:
    decision, _ = decided(asked("a", 1), asked("z", -1))
    assert statuses(decision) == {"z": "granted", "a": "granted"}


def test_without_any_place_the_need_is_told_to_the_region() -> None:
    """Places of another region do not help."""
    decision, _ = decided(asked("a", 1), asked("b", 1), asked("c", 1, region="south"), free={"south": 3})
    assert statuses(decision) == {"a": "no-slot", "b": "no-slot", "c": "granted"}
    assert decision.unmet == {"north": 2}


def test_managers_that_ask_for_nothing_get_no_answer() -> None:
    assert not decided(asked("a", 0), free={"north": 1})[0].grants


def test_changes_are_counted_by_topology_not_by_component() -> None:
    """Four per hour, one at once: the second has to wait for a quarter of an hour."""
    bucket = Bucket(per_hour=4, most=1)
    requests = (asked("a", 1), asked("b", 1))
    first, state = decided(*requests, free={"north": 2}, reconfigurations=bucket)
    assert set(statuses(first).values()) == {"granted"}
    early, state = decided(*requests, free={"north": 2}, now_s=899, state=state, reconfigurations=bucket)
    assert set(statuses(early).values()) == {"budget"}
    assert not early.unmet, "it is not for want of a place"
    later, _ = decided(*requests, free={"north": 2}, now_s=901, state=state, reconfigurations=bucket)
    assert set(statuses(later).values()) == {"granted"}


def test_pauses_are_paid_once_per_change_by_the_longest() -> None:
    bucket = Bucket(per_hour=60, most=30)
    decision, state = decided(
        asked("a", 1, load=3, pause_s=20), asked("b", 1, load=2, pause_s=40), asked("c", 1, pause_s=15),
        free={"north": 3}, pauses=bucket,
    )  # fmt: skip
    assert statuses(decision) == {"a": "granted", "b": "budget", "c": "granted"}
    assert decision.pause_s == 20
    assert state.pauses == pytest.approx(10)


def test_a_component_that_has_just_changed_waits() -> None:
    _, state = decided(asked("a", 1), free={"north": 1})
    for now_s, status in ((59, "cool-down"), (60, "granted")):
        decision, _ = decided(
            asked("a", 1), asked("b", 1), free={"north": 2}, now_s=now_s, state=state, cooldown_s=60
        )
        assert statuses(decision) == {"a": status, "b": "granted"}


def test_a_frozen_topology_is_not_changed() -> None:
    decision, state = decided(
        asked("a", 1), asked("b", -1), free={"north": 1}, frozen=True, reconfigurations=Bucket(4, 1)
    )
    assert set(statuses(decision).values()) == {"frozen"}
    assert state.reconfigurations == 1


requests = st.lists(
    st.builds(
        asked,
        st.sampled_from("abcdefgh"),
        st.integers(-1, 1),
        region=st.sampled_from(["north", "south"]),
        load=st.sampled_from([0.5, 1.0, 2.0]),
        gain=st.floats(0, 1),
        pause_s=st.sampled_from([0.0, 10.0, 40.0]),
    ),
    unique_by=lambda each: each.request.component,
)


@given(requests, st.integers(0, 3), st.integers(0, 3), st.sampled_from(["load", "gain"]), st.booleans())
def test_every_request_is_answered_and_no_place_given_twice(
    given_: list[Asked], north: int, south: int, order: Any, limited: bool
) -> None:
    """In whichever order requests come."""
    free = {"north": north, "south": south}
    budget = {"pauses": Bucket(60, 30), "reconfigurations": Bucket(4, 1)} if limited else {}
    decision, state = decided(*given_, free=free, order=order, **budget)
    assert {each.component for each in decision.grants} == {
        each.request.component for each in given_ if each.request.action
    }
    home = {each.request.component: each.region for each in given_}
    taken = Counter(dict.fromkeys(free, 0))
    for grant in decision.grants:
        taken[home[grant.component]] += grant.action
    assert all(taken[region] <= free[region] for region in free)
    assert not limited or (decision.pause_s <= 30 and (state.reconfigurations or 0) >= 0)
    assert (decision, state) == decided(*given_[::-1], free=free, order=order, **budget)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Bucket(0, 1), "per_hour: expected a number > 0, got 0"),
        (lambda: Bucket(1, 0), "most: expected a number > 0, got 0"),
        (lambda: ApplicationParameters(cooldown_s=-1), "cooldown_s: expected a number >= 0, got -1"),
        (lambda: decided(order="name"), 'order: expected "load" or "gain", got "name"'),
        (lambda: decided(free={"north": -1}), "free_slots.north: expected a whole number >= 0, got -1"),
        (lambda: decided(asked("a", 1), asked("a", -1)), r'asked\[1\].request.component: "a" is there twice'),
        (lambda: asked("a", 1, load=-1), "load: expected a number >= 0, got -1"),
    ],
)
def test_bad_values(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        make()
