"""Names for hosts. A machine that comes back with its supervisor's id may be banned: its name rests first."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from provisioning.providers.machines import NotStartedError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from provisioning.providers.book import Book


def fresh_name(pattern: str, number: int) -> str:
    """Return a name that no lease had before.

    Args:
        pattern: With `{number}` in it.
        number: Of the lease.
    """
    return pattern.replace("{number}", str(number))


def rested_name(names: Sequence[str], book: Book, now_s: float, rest_s: float) -> str:
    """Return a name of a pool: one that was never used, or else the one that has rested longest.

    Args:
        names: The pool.
        book: All leases.
        now_s: Present time, s since 1970.
        rest_s: For so long the name of a returned host is not used, s.

    Raises:
        NotStartedError: None is free.
    """
    used_until_s = dict.fromkeys(names, -math.inf)
    for each in book.entries:
        if each.host in used_until_s:
            # the newest lease comes last
            used_until_s[each.host] = math.inf if each.ended_at_s is None else each.ended_at_s + rest_s
    name = min(used_until_s, key=lambda each: used_until_s[each])
    if used_until_s[name] > now_s:
        raise NotStartedError(
            f"no name of a host is free: all {len(names)} are leased, or were less than {rest_s:g} s ago"
        )
    return name
