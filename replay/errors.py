"""The one way in which this package refuses bad input, and what else keeps it from its work."""

from __future__ import annotations


class DataError(Exception):
    """Bad input or a missing precondition, as one sentence that names the file (and line)."""


class MachineError(DataError):
    """The machine lacks something, such as room or Java: with it the same input does."""
