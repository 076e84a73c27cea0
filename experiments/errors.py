"""What ends an experiment: bad input, a step that failed, an answer that is wrong, an interruption."""

from __future__ import annotations


class ExperimentError(Exception):
    """Bad input, a missing precondition or a failure, in one sentence that names the place.

    Attributes:
        status: Exit status for a command (2 bad input, 130 an interruption, 1 anything else).
    """

    def __init__(self, message: str, status: int = 2) -> None:
        super().__init__(message)
        self.status = status
