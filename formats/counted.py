"""Numbers and lists for lines that people read: `1 executor`, `2 executors`, `a, b and 3 more`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection


def counted(number: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun, or with the noun and the verb that follows.

    Args:
        number: How many there are.
        one: What follows 1, such as `executor leaves`.
        many: What follows all other numbers; None means `one` with an s.
    """
    return f"{number} {one if number == 1 else many or one + 's'}"


def some_of(names: Collection[str], shown: int = 5) -> str:
    """Return the first of some names in their order, and how many there are more.

    Args:
        names: At least one.
        shown: So many are named.
    """
    more = f" and {len(names) - shown} more" if len(names) > shown else ""
    return f"{', '.join(sorted(names)[:shown])}{more}"
