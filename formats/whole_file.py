"""Files that a reader finds whole: the old content or the new one, also after a loss of power."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def write_whole(path: Path, content: str) -> None:
    """Write a text file in one step; blocks until the disk has it, which may take seconds.

    Raises:
        OSError: If it cannot be written.
    """
    beside = path.with_name(f"{path.name}.{os.getpid()}.new")  # no other process's
    with beside.open("w", encoding="utf-8") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())  # or the new name could outlive a loss of power without the content
    beside.replace(path)
