"""A number with its noun, for lines that people read: `1 executor`, `2 executors`."""

from __future__ import annotations


def counted(number: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun, or with the noun and the verb that follows.

    Args:
        number: How many there are.
        one: What follows 1, such as `executor leaves`.
        many: What follows all other numbers; None means `one` with an s.
    """
    return f"{number} {one if number == 1 else many or one + 's'}"
