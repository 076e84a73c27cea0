"""Ctrl-C while results are collected."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.collecting import collecting
from cli.errors import UserError
from cli.interrupt import INTERRUPTED_STATUS


def test_ctrl_c_names_run_and_folder() -> None:
    def interrupted() -> None:
        with collecting("first", Path("results")):
            raise KeyboardInterrupt

    with pytest.raises(UserError) as ended:
        interrupted()
    assert str(ended.value) == (
        "collecting run first into results was interrupted; the same command begins again"
    )
    assert ended.value.status == INTERRUPTED_STATUS
