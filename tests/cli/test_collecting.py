"""Ctrl-C while results are collected."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.collecting import told_interrupt
from cli.errors import UserError
from cli.interrupt import INTERRUPTED_STATUS


def test_ctrl_c_is_told_with_run_and_folder() -> None:
    def interrupted() -> None:
        with told_interrupt("first", Path("results")):
            raise KeyboardInterrupt

    with pytest.raises(UserError) as told:
        interrupted()
    assert str(told.value) == (
        "collecting run first into results was interrupted; the same command begins again"
    )
    assert told.value.status == INTERRUPTED_STATUS
