"""The one way in which this package refuses bad input."""

from __future__ import annotations


class DataError(Exception):
    """Bad input or a missing precondition, told in one sentence that names the file (and line)."""
