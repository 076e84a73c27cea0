"""Ids of runs: they stand in Redis keys and file names."""

from __future__ import annotations

import re
from dataclasses import dataclass

_RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@dataclass(frozen=True, slots=True)
class NamedRun:
    """One run of a topology; subclasses name its keys in Redis.

    Raises:
        ValueError: The id is not made of letters, digits, `.`, `_` and `-`, at most 64 of them, or begins
            with another than a letter or digit.
    """

    id: str

    def __post_init__(self) -> None:
        if not _RUN_ID.fullmatch(self.id):
            raise ValueError(
                f"run {self.id!r} must be 1 to 64 letters, digits, '.', '_' or '-', a letter or digit first"
            )
