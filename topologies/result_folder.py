"""Puts the files of a run's results into a folder, all together or none."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


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
