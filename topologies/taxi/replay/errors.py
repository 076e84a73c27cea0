"""Why rows are not, or no longer, put into Redis."""

from __future__ import annotations


class FeedError(Exception):
    """Feeding cannot start or go on; the message is one sentence.

    Attributes:
        status: Exit status of a command that ends by it: 2 for bad input, 1 for anything else.
    """

    def __init__(self, message: str, status: int = 1) -> None:
        super().__init__(message)
        self.status = status


class StoppedError(Exception):
    """The user asked for the end while something was waited for."""
