"""Ids of runs: they stand in Redis keys and file names."""

from __future__ import annotations

import re

_RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def check_run_id(identity: str) -> None:
    """Refuse what cannot be the id of a run.

    Raises:
        ValueError: It is not made of letters, digits, `.`, `_` and `-`, at most 64 of them, or begins with
            another than a letter or digit.
    """
    if not _RUN_ID.fullmatch(identity):
        msg = f"run {identity!r} must be 1 to 64 letters, digits, '.', '_' or '-', a letter or digit first"
        raise ValueError(msg)
