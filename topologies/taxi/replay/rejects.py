"""The file of rows that are malformed: line number, reason, text."""

from __future__ import annotations

import csv
from typing import IO, TYPE_CHECKING, Any

from topologies.taxi.replay.errors import FeedError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_HEADER = ["line", "reason", "text"]


def _writer(file: IO[str]) -> Any:
    # texts always in quotes: a carriage return in one would otherwise end its record
    return csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)


class RejectsFile:
    """Written row by row, ahead of Redis; made when there is a first one.

    Args:
        path: Where it is, or will be.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def begin(self) -> None:
        """Make sure that a first pass of rows overwrites nothing.

        Raises:
            FeedError: There is such a file.
        """
        if self.path.exists():
            msg = f"{self.path} exists already: move it away, or name another file with --rejects"
            raise FeedError(msg, status=2)

    def resume(self, next_row: int) -> None:
        """Drop what was written of rows from `next_row` on: they never came to Redis, and come again.

        Raises:
            FeedError: The file is another one, or cannot be written.
        """
        if not self.path.exists():
            return
        part = self.path.with_name(f"{self.path.name}.part")
        kept = 0
        try:
            with (
                self.path.open(encoding="utf-8", errors="backslashreplace", newline="") as old,
                part.open("w", encoding="utf-8", newline="") as new,
            ):
                records, writer = csv.reader(old), _writer(new)
                if next(records, _HEADER) != _HEADER:
                    msg = f"{self.path} is no file of rejects: name another one with --rejects"
                    raise FeedError(msg, status=2)
                writer.writerow(_HEADER)
                for record in records:
                    # a crash may have cut the last record, which is of a row that never came to Redis
                    if len(record) != len(_HEADER) or int(record[0]) >= next_row:
                        break
                    writer.writerow([int(record[0]), *record[1:]])
                    kept += 1
            if kept:
                part.replace(self.path)
            else:
                self.path.unlink()
        except (OSError, ValueError, csv.Error) as error:
            raise FeedError(self._unwritable(error)) from error
        finally:
            part.unlink(missing_ok=True)

    def write(self, rejects: Iterable[tuple[int, str, bytes]]) -> None:
        """Append rows, each as number, reason and line, and see them out of this process.

        Raises:
            FeedError: They cannot be written.
        """
        try:
            first = not self.path.exists()
            with self.path.open("a", encoding="utf-8", newline="") as file:
                writer = _writer(file)
                if first:
                    writer.writerow(_HEADER)
                for number, reason, line in rejects:
                    writer.writerow([number, reason, line.decode(errors="backslashreplace")])
        except OSError as error:
            raise FeedError(self._unwritable(error)) from error

    def _unwritable(self, error: Exception) -> str:
        reason = error.strerror if isinstance(error, OSError) else None
        return f"the file of rejects {self.path} cannot be kept: {reason or error}"
