"""Writes what sinks measure to Redis without waiting for answers, and counts what may be missing there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topologies.redis_io.resp import encode_command
from topologies.redis_io.writer import CommandWriter, WriteLostError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from formats.address import Address


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

    def write(self, entry: Mapping[str, str | int], *, tuples: int = 0) -> bool:
        """Append an entry.

        Args:
            entry: Its fields.
            tuples: How many tuples are lost with it; others are written again by their callers.

        Returns:
            False if Redis is not there.
        """
        fields = [part for pair in entry.items() for part in pair]
        try:
            self._writer.send(encode_command("XADD", self._stream, "*", *fields), tuples)
        except WriteLostError as error:
            self._count(error)
            return False
        return True

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
