"""Files and folders as Spark takes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def spark_path(path: Path) -> str:
    """Return a file or folder of the file system, whatever Spark's default one is.

    Spark takes `%20` and the like literally, so this is no URI.
    """
    return f"file://{path.resolve()}"
