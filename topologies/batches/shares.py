"""Division of keys into shares that is the same in every process."""

from __future__ import annotations

from zlib import crc32


def share_of(key: str, shares: int) -> int:
    """Return the share of a key, 0 to `shares - 1`.

    Python's own hash differs between processes; a share must not.
    """
    return crc32(key.encode()) % shares if shares > 1 else 0
