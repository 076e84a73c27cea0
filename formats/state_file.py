"""How a program writes the file in which it keeps its memory: in one step."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def write_state(path: Path, content: Mapping[str, object]) -> None:
    """Write a JSON object in one step: a reader sees the old or the new one, also after a loss of power.

    Blocks until the disk has it, which may take seconds.

    Raises:
        OSError: If it cannot be written.
    """
    beside = path.with_name(f"{path.name}.{os.getpid()}.new")  # no other process's
    with beside.open("w", encoding="utf-8") as file:
        file.write(json.dumps(content, allow_nan=False) + "\n")
        file.flush()
        os.fsync(file.fileno())  # or the new name could outlive a loss of power without the content
    beside.replace(path)
