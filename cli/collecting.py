"""Ctrl-C while a run's results are collected: what it leaves."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from cli.errors import UserError
from cli.interrupt import INTERRUPTED_STATUS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def told_interrupt(run: str, out: Path) -> Iterator[None]:
    """Say what Ctrl-C leaves of a collection of results.

    Raises:
        UserError: It came.
    """
    try:
        yield
    except KeyboardInterrupt:
        raise UserError(
            f"collecting run {run} into {out} was interrupted; the same command begins again",
            status=INTERRUPTED_STATUS,
        ) from None
