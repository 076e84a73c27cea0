"""How commands call experiments: Ctrl-C and other endings, and what an experiment refuses."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from cli.errors import UserError
from cli.interrupt import all_as_ctrl_c
from experiments.errors import ExperimentError

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def experiment_errors() -> Iterator[None]:
    """Turn the errors of experiments into the command line's.

    Raises:
        UserError: The experiment ended with an error, or was interrupted and says what is left.
    """
    try:
        yield
    except ExperimentError as error:
        raise UserError(str(error), error.status) from error


@contextmanager
def experiment_call() -> Iterator[None]:
    """Let SIGTERM and SIGHUP clean up as Ctrl-C does inside the block, and turn errors as above."""
    with all_as_ctrl_c(), experiment_errors():
        yield
