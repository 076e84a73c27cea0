"""Growing where there is not room for all: what comes goes before what waits, and the neediest first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scheduler.elasticity.useful import next_useful

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.elasticity.leasing.by_load.sizing import Need
    from scheduler.elasticity.leasing.component import Component
    from scheduler.elasticity.leasing.draft import Draft
    from scheduler.elasticity.leasing.growing import Growing


def with_room_shared(draft: Draft, wanting: Sequence[tuple[Component, Need]], growing: Growing) -> Draft:
    """Start executors on hosts that are leased, in steps that make a difference, until no step fits any more.

    First each component gets what its demand needs, then what its backlog does: one that works off a backlog
    must not keep another one from keeping up.

    Args:
        draft: The round so far.
        wanting: Components that have less than they need.
        growing: Finds room.
    """
    there = {component.name: draft.executors(component.name) for component, _ in wanting}
    for backlog_too in (False, True):
        goal = {
            component.name: need.executors if backlog_too else need.for_demand for component, need in wanting
        }
        going = [each for each in wanting if there[each[0].name] < goal[each[0].name]]
        while going:
            component, need = min(going, key=lambda each: there[each[0].name] / goal[each[0].name])
            step = next_useful(component.tasks, there[component.name]) - there[component.name]
            after = _started(draft, component, step, growing)
            if after is None:
                going.remove((component, need))
                continue
            draft = after.because("grown", component.name, need.why)
            there[component.name] += step
            going = [each for each in going if there[each[0].name] < goal[each[0].name]]
    return draft


def _started(draft: Draft, component: Component, count: int, growing: Growing) -> Draft | None:
    """Start some executors; None if there is no room for all of them."""
    for _ in range(count):
        room = growing.find(draft, component)
        if room is None:
            return None
        draft = room.draft.started(component.name, room.host)
    return draft
