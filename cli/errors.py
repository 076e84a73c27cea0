"""The one way in which commands refuse bad input."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class UserError(Exception):
    """Bad input or a missing precondition; the message is one sentence that names the place.

    Attributes:
        status: Exit status of the process (2 bad input, 3 infeasible, 1 anything else).
    """

    def __init__(self, message: str, status: int = 2) -> None:
        super().__init__(message)
        self.status = status


@contextmanager
def refused(*kinds: type[Exception], by: str = "", status: int = 2) -> Iterator[None]:
    """Let errors of some kinds inside the block refuse the command.

    Args:
        kinds: Kinds of errors.
        by: What the sentence begins with before the error's own words, such as an option.
        status: Exit status.

    Raises:
        UserError: There was one.
    """
    try:
        yield
    except kinds as error:
        raise UserError(f"{by}: {error}" if by else str(error), status) from error
