"""Numbers of rows as text: `1-5,7,9-10`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def pack_ranges(numbers: Iterable[int]) -> str:
    """Return ascending numbers as ranges; no numbers are an empty text."""
    texts: list[str] = []
    begin = end = None
    for number in numbers:
        if end is not None and number == end + 1:
            end = number
            continue
        if begin is not None and end is not None:
            texts.append(_range(begin, end))
        begin = end = number
    if begin is not None and end is not None:
        texts.append(_range(begin, end))
    return ",".join(texts)


def unpack_ranges(packed: str) -> Iterator[int]:
    """Yield the numbers of `pack_ranges`.

    Raises:
        ValueError: The text is none of its.
    """
    for part in packed.split(",") if packed else ():
        begin, _, end = part.partition("-")
        yield from range(int(begin), int(end or begin) + 1)


def _range(begin: int, end: int) -> str:
    return f"{begin}-{end}" if end > begin else str(begin)
