"""Writes what sinks measure to Redis without waiting for answers, and counts what may be missing there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topologies.redis_io.resp import encode_command
from topologies.redis_io.writer import CommandWriter, WriteLostError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from formats.address import Address

_TUPLE = 1
"""Tag of an entry whose loss is counted; others, with tag 0, are written again by their callers."""


class ArrivalWriter:
    """Appends entries to a Redis stream.

    Args:
        address: Where Redis listens.
        stream: Key of the stream.
        report: Called with a sentence when something is wrong; never by another thread.

    Attributes:
        lost: Tuples that may not be in Redis.
    """

    def __init__(self, address: Address, stream: str, report: Callable[[str], None]) -> None:
        self._stream = stream
        self._report = report
        self._writer = CommandWriter(address, lambda _tag: None)
        self.lost = 0

    def write_tuple(self, entry: Mapping[str, str | int]) -> None:
        """Append the entry of a tuple."""
        self._add(entry, _TUPLE)

    def write(self, entry: Mapping[str, str | int]) -> bool:
        """Append another entry; return False if Redis is not there."""
        return self._add(entry, 0)

    def flush(self, timeout_s: float) -> bool:
        """Wait until Redis has everything; return whether it has taken all that was not lost before."""
        try:
            self._writer.flush(timeout_s)
        except WriteLostError as error:
            self._count(error)
            return False
        return not self._count_refused()

    def check(self) -> None:
        """Notice what is wrong also while nothing is written."""
        try:
            self._writer.check()
        except WriteLostError as error:
            self._count(error)
        self._count_refused()

    def _add(self, entry: Mapping[str, str | int], tag: int) -> bool:
        fields = [part for pair in entry.items() for part in pair]
        try:
            self._writer.send(encode_command("XADD", self._stream, "*", *fields), tag)
        except WriteLostError as error:
            self._count(error)
            return False
        return True

    def _count(self, error: WriteLostError) -> None:
        self.lost += sum(error.tags)
        self._report(f"{error}; {sum(error.tags)} tuples may be missing there")

    def _count_refused(self) -> bool:
        """Return whether Redis refused anything since the last call."""
        tags: list[int] = []
        reason = ""
        while self._writer.refused:
            tag, reason = self._writer.refused.popleft()
            tags.append(tag)
        if tags:
            self.lost += sum(tags)
            self._report(f"Redis refused {len(tags)} entries, {sum(tags)} of tuples: {reason}")
        return bool(tags)
