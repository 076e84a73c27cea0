"""How contents of znodes are packed: large ones by zlib, so that ZooKeeper sends a quarter of them.

A JSON text of an object or a list begins with `{` or `[`, a stream of zlib with 0x78: a reader knows the form
by the first byte and takes both. Small contents stay text, which any client of ZooKeeper shows.
"""

from __future__ import annotations

import zlib

PACK_ABOVE_BYTES = 1024
"""Contents of more bytes are packed: the readings of a cluster with few hosts are not."""
MAX_UNPACKED_BYTES = 4 * 1024 * 1024
"""Longest text that is unpacked. A znode holds a megabyte, which may stand for a gigabyte."""

_FIRST_BYTE = b"\x78"


def pack(content: bytes) -> bytes:
    """Return what a znode is to hold.

    Args:
        content: A JSON text.

    Returns:
        The same text if it is small or would not get shorter, else a stream of zlib.
    """
    if len(content) <= PACK_ABOVE_BYTES:
        return content
    packed = zlib.compress(content)
    return packed if len(packed) < len(content) else content


def unpack(content: bytes) -> bytes:
    """Return the text that a znode stands for; takes memory of at most a few times `MAX_UNPACKED_BYTES`.

    Args:
        content: What the znode holds, packed or not; what does not begin as a packed content is returned.

    Raises:
        ValueError: With the reason, if it begins as a packed content and is none, or one of a longer text.
    """
    if not content.startswith(_FIRST_BYTE):
        return content
    stream = zlib.decompressobj()
    try:
        text = stream.decompress(content, MAX_UNPACKED_BYTES + 1)
    except zlib.error as error:
        raise ValueError("packed content is damaged") from error
    if len(text) > MAX_UNPACKED_BYTES:
        raise ValueError(f"packed content stands for more than {MAX_UNPACKED_BYTES} bytes")
    if not stream.eof:
        raise ValueError("packed content ends too early")
    if stream.unused_data:
        raise ValueError("packed content goes on after its end")
    return text
