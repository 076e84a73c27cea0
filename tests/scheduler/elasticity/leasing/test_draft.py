"""A decision in the making never contradicts itself."""

from __future__ import annotations

from scheduler.elasticity.leasing.decision import Change, Move
from scheduler.elasticity.leasing.draft import Draft
from tests.scheduler.elasticity.leasing.carried_out import carried_out
from tests.scheduler.elasticity.leasing.example import OFFER, host

HOSTS = [host("one", 300, {"A": 1, "R": 1}), host("two", 300, {"R": 2}), host("stays", 900, {"R": 1})]
BEFORE = Draft({each.name: each for each in HOSTS}, {})


def is_carried_out(draft: Draft) -> bool:
    """Return whether what is decided leads to the hosts of the draft; it does not if it cannot be done."""
    after = carried_out(HOSTS, draft.decision, OFFER, 0.0)
    return {each.name: each.executors for each in after} == {
        name: {component: count for component, count in each.executors.items() if count}
        for name, each in draft.hosts.items()
    }


def test_what_moves_to_a_host_that_then_makes_room_stops_where_it_is() -> None:
    """Two hosts are emptied in one round, and both onto the same."""
    draft = BEFORE.moved("A", "one", "stays").stopped("A", "stays").moved("R", "two", "stays")
    assert draft.decision.stops == (Change("A", "one"),)
    assert draft.decision.moves == (Move("R", "two", "stays"),)
    assert is_carried_out(draft)


def test_what_was_there_before_stops_first() -> None:
    moved = BEFORE.moved("R", "one", "stays").moved("R", "two", "stays")
    draft = moved.stopped("R", "stays").stopped("R", "stays")
    assert draft.decision.stops == (Change("R", "stays"), Change("R", "two"))
    assert draft.decision.moves == (Move("R", "one", "stays"),)
    assert is_carried_out(draft)


def test_what_has_started_there_is_none_of_those_that_were_there() -> None:
    draft = BEFORE.started("A", "stays").moved("A", "one", "stays").stopped("A", "stays")
    assert draft.decision.stops == (Change("A", "one"),)
    assert draft.decision.moves == ()
    assert is_carried_out(draft)
