"""What ends the collection of a run's results, and what Ctrl-C leaves of it."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from cli.errors import UserError, refused
from cli.interrupt import INTERRUPTED_STATUS
from topologies.collecting import CollectError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def collecting(run: str, out: Path) -> Iterator[None]:
    """Let what ends a collection of results inside the block end the command.

    Raises:
        UserError: Results cannot be collected or written, or Ctrl-C came.
    """
    try:
        with refused(CollectError, status=1):
            yield
    except OSError as error:
        raise UserError(f"--out {out}: {error.strerror or error}") from error
    except KeyboardInterrupt:
        raise UserError(
            f"collecting run {run} into {out} was interrupted; the same command begins again",
            status=INTERRUPTED_STATUS,
        ) from None
