"""Progress of a long command, on a narrow terminal and in a file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cli import progress
from cli.progress import StepProgress

if TYPE_CHECKING:
    import pytest

LONG = "23%, 20,007 of 46,450 rows, 3,000 rows/s, fast, 20,000 rows ahead of the results"


def test_a_narrow_terminal_cuts_the_detail_off_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    with StepProgress(total=13) as steps:
        steps.step("data")
        steps.step("even: 9704 rows fast, then 300 rows at 10 rows/s")
        steps.detail(LONG)

    plain = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", capsys.readouterr().err)
    last = [line for line in re.split(r"[\r\n]", plain) if line.strip()][-1]
    assert re.search(r" 1/13 .* \d:\d\d:\d\d even: 9704 rows fast, then 300 rows at 10 rows/s 23%.*…", last)


def test_a_file_gets_each_step_and_a_detail_a_minute(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Steps of an hour would otherwise look like ones that hang."""
    now_s = 0.0
    monkeypatch.setattr(progress.time, "monotonic", lambda: now_s)
    with StepProgress(total=2) as steps:
        steps.step("feeding")
        for now_s in (5.0, 59.0, 61.0, 66.0, 120.0, 122.0):
            steps.detail(f"{now_s:.0f} s\n")
        steps.step("collecting")

    assert capsys.readouterr().err.splitlines() == [
        "[1/2] feeding",
        "    61 s",
        "    122 s",
        "[2/2] collecting",
    ]
