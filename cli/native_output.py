"""Lines that native libraries write to standard output beside what a command prints there."""

from __future__ import annotations

import ctypes
import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def native_output_hidden() -> Iterator[None]:
    """Send standard output nowhere while something is worked out.

    HiGHS names a function of its own now and then, however quiet it is asked to be.
    """
    try:
        sys.stdout.flush()
        kept = os.dup(1)
    except (AttributeError, OSError):
        yield  # it is closed: nothing can be written there anyway
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)
    try:
        yield
    finally:
        sys.stdout.flush()
        # what C has not written yet goes the same way
        ctypes.CDLL(None).fflush(None)
        os.dup2(kept, 1)
        os.close(kept)
