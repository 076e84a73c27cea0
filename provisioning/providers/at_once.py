"""Work that mostly waits, some of it at once, so that all of it ends within a bounded time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_AT_ONCE = 8
T = TypeVar("T")
R = TypeVar("R")


def each_at_once(do: Callable[[T], R], items: Sequence[T]) -> list[R]:
    """Return what comes of each item, in their order; a single one needs no thread."""
    if len(items) < 2:
        return [do(each) for each in items]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return list(pool.map(do, items))
