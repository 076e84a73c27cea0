"""Running `stormplace` in this process."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest

from cli.main import main

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def stormplace(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[int, str, str]]:
    """Run `stormplace ...` in this process; returns status, standard output and standard error."""

    def run_main(*arguments: str | Path) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["stormplace", *map(str, arguments)])
        with pytest.raises(SystemExit) as caught:
            main()
        output = capsys.readouterr()
        return int(caught.value.code or 0), output.out, output.err

    return run_main


@pytest.fixture
def run(stormplace: Callable[..., tuple[int, str, str]]) -> Any:
    """Run `stormplace solve ...` in this process; returns status, standard output and standard error."""
    return lambda *arguments: stormplace("solve", *arguments)
