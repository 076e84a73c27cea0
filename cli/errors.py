"""The one way in which commands refuse bad input."""

from __future__ import annotations


class UserError(Exception):
    """Bad input or a missing precondition; the message is one sentence that names the place.

    Attributes:
        status: Exit status of the process (2 bad input, 3 infeasible, 1 anything else).
    """

    def __init__(self, message: str, status: int = 2) -> None:
        super().__init__(message)
        self.status = status
