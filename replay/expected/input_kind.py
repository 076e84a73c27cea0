"""What kind of input the expected answers are computed from, checked before Spark starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from replay.trips.blocks import require_text
from replay.trips.table import part_files, require_table

if TYPE_CHECKING:
    from pathlib import Path


def input_bytes(source: Path) -> int:
    """Return how large a file of lines or a trips table is; a packed file counts as it would be unpacked.

    Args:
        source: A file, or the folder of a trips table.

    Raises:
        DataError: It is missing, empty, or a folder that is no complete trips table.
    """
    if source.is_dir():
        require_table(source)
        return _PACKED * sum(path.stat().st_size for path in part_files(source))
    require_text(source)
    size = source.stat().st_size
    return _PACKED * size if source.suffix == ".gz" else size


#: How much larger rows are as text than packed, about.
_PACKED = 3
