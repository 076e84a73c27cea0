"""Progress of a benchmark: a line on standard error for each item that begins."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_Item = TypeVar("_Item")


def announced(items: Sequence[_Item], title: Callable[[_Item], str]) -> Iterator[_Item]:
    """Return the items one by one; before each its number and title are written."""
    for number, item in enumerate(items, start=1):
        sys.stderr.write(f"[{number}/{len(items)}] {title(item)}\n")
        yield item
