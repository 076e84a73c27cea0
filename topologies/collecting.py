"""What collecting the results of any run here has in common: following its streams, putting its files."""

from __future__ import annotations

import tempfile
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from redis import Redis

_BLOCK_MS = 500

StreamEntry = tuple[str, dict[str, str]]
"""Id and fields of an entry of a Redis stream."""


class CollectError(Exception):
    """Results cannot be collected; the message is one sentence."""


@contextmanager
def result_folder(out: Path) -> Iterator[Path]:
    """Give a scratch folder whose files, with their sub-folders, move to `out` when the block ends.

    An error that leaves the block leaves `out` as it was, and no folder that was not there before.

    Args:
        out: The folder; made with its parents when it does not exist.

    Raises:
        OSError: It cannot be made or written.
    """
    made = [folder for folder in (out, *out.parents) if not folder.exists()]
    out.mkdir(parents=True, exist_ok=True)
    try:
        with tempfile.TemporaryDirectory(dir=out, prefix=".collecting-") as name:
            scratch = Path(name)
            yield scratch
            for file in sorted(path for path in scratch.rglob("*") if path.is_file()):
                target = out / file.relative_to(scratch)
                target.parent.mkdir(exist_ok=True)
                file.replace(target)
    except BaseException:
        with suppress(OSError):
            for folder in made:
                folder.rmdir()
        raise


def follow(
    redis: Redis, streams: Iterable[str], page: int, timeout_s: float
) -> Iterator[list[tuple[str, StreamEntry]]]:
    """Yield entries of streams from their start, as they come, until no new one has come for a time.

    Args:
        redis: Client with decoded responses.
        streams: Their keys.
        page: Most entries of a stream that are yielded together.
        timeout_s: Longest time without a new entry, seconds.
    """
    after = dict.fromkeys(streams, "0")
    quiet_since_s = time.monotonic()
    while True:
        reply = redis.xread(cast("Any", after), count=page, block=_BLOCK_MS)
        entries = [
            (stream, entry)
            for stream, some in cast("list[tuple[str, list[StreamEntry]]]", reply)
            for entry in some
        ]
        if entries:
            after |= {stream: entry[0] for stream, entry in entries}
            yield entries
            quiet_since_s = time.monotonic()
        elif time.monotonic() - quiet_since_s > timeout_s:
            return
