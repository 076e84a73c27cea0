"""A scratch folder inside the one that results go to; a failure leaves no folder that was not there."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def scratch_in(out: Path) -> Iterator[Path]:
    """Give a folder in `out`, made with its parents if need be, that is gone after the block.

    An error that leaves the block removes what was made, unless it holds anything by then.

    Raises:
        OSError: It cannot be made.
    """
    made = [folder for folder in (out, *out.parents) if not folder.exists()]
    out.mkdir(parents=True, exist_ok=True)
    try:
        with tempfile.TemporaryDirectory(dir=out, prefix=".collecting-") as name:
            yield Path(name)
    except BaseException:
        with suppress(OSError):
            for folder in made:
                folder.rmdir()
        raise
