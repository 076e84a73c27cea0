"""How a host is emptied before the end of its paid time (paper 003, Fig. 5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scheduler.elasticity.leasing.room import Search

if TYPE_CHECKING:
    from scheduler.elasticity.leasing.draft import Draft
    from scheduler.elasticity.leasing.situation import Situation


def emptied(draft: Draft, host: str, situation: Situation) -> Draft | None:
    """Return a draft in which nothing runs on a host any more; None if there is no way.

    1. Of each component that may lose executors (Algorithm 3) those on the host stop, up to a share of all.
    2. The others move, the most removable first, if need be in place of other executors, as when growing. No
       host is leased for them, which would only change one for another, and none that is still booting takes
       them.

    Args:
        draft: The round so far.
        host: Which host.
        situation: The round.
    """
    targets = [each.name for each in draft.hosts.values() if each.name != host and each.status == "ready"]
    search = Search.within(draft, situation, targets)
    scores = {each: situation.removal_score(draft, each) for each in situation.parameters.components}
    order = sorted(situation.parameters.components, key=lambda each: -scores[each])
    for component in order:
        if scores[component] > 0.0:
            most = situation.drops_left(draft, component, search.before[component.name])
            for _ in range(min(most, draft.hosts[host].count(component.name))):
                draft = draft.stopped(component.name, host)
                draft = draft.because("shrunk", component.name, f"an executor leaves with {host}")
    for component in order:
        for _ in range(draft.hosts[host].count(component.name)):
            room = search.room(draft, component)
            if room is None:
                return None
            draft = room.draft.moved(component.name, host, room.host)
    return draft
