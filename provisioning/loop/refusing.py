"""Numbers of executors that did not come about: for a while they are not asked for again. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from provisioning.loop.memory import Refused

if TYPE_CHECKING:
    from provisioning.loop.memory import Memory, Wanted

_FIRST_S = 1800.0
"""What did not come about is not asked for again for so long, s; each time in a row for twice as long."""
_MOST_S = 86_400.0
"""At most for so long, s; after as long again without another time, the next one is the first in a row."""


def refused_now(memory: Memory, now_s: float) -> dict[str, int]:
    """Return from which number of executors on none are asked for, by `topology/component`.

    Args:
        memory: What did not come about.
        now_s: Time, s since 1970. A time that is further ahead than any can be is of another clock.
    """
    return {
        full: each.executors
        for full, each in memory.refused.items()
        if now_s < each.until_s <= now_s + _MOST_S
    }


def with_refused(memory: Memory, name: str, wanted: Wanted, now_s: float) -> Memory:
    """Return the memory that knows which numbers of a topology's executors did not come about.

    Args:
        memory: From before.
        name: Of the topology.
        wanted: What it was to have; fewer executors than before are always possible.
        now_s: Time, s since 1970.
    """
    refused = dict(memory.refused)
    for component, count in wanted.executors.items():
        if count > wanted.before.get(component, count):
            known = refused.get(f"{name}/{component}")
            in_a_row = known is not None and abs(now_s - known.until_s) <= _MOST_S
            times = known.times + 1 if known is not None and in_a_row else 1
            until_s = now_s + min(_FIRST_S * 2 ** (times - 1), _MOST_S)
            refused[f"{name}/{component}"] = Refused(count, until_s, times)
    return replace(memory, refused=refused)


def without_reached(memory: Memory, name: str, wanted: Wanted) -> Memory:
    """Return the memory without what was refused and has come about.

    Args:
        memory: From before.
        name: Of the topology.
        wanted: What it has now.
    """
    refused = {
        full: each
        for full, each in memory.refused.items()
        if wanted.executors.get(full.removeprefix(f"{name}/"), 0) < each.executors
    }
    return replace(memory, refused=refused)
