from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lab.errors import LabError
from lab.logs import LONGEST_LINE, find_logs, read_log
from lab.places import LabFolder

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path) -> LabFolder:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs/nimbus.log").write_text("one\ntwo\n" + "x" * 20_000 + "\n", encoding="utf-8")
    (tmp_path / "logs/nimbus.out").write_text("", encoding="utf-8")
    (tmp_path / "logs/daemon.out").write_text("ready\n", encoding="utf-8")
    worker = tmp_path / "storm/a-1/workers/taxi-1-2/6700"
    worker.mkdir(parents=True)
    (worker / "worker.log").write_text("working\n", encoding="utf-8")
    (worker / "worker.log.err").write_text("oh\n", encoding="utf-8")
    return LabFolder(tmp_path)


def test_logs_have_short_names_and_empty_ones_are_left_out(folder: LabFolder) -> None:
    """Daemons go by their name, workers by host, topology and port."""
    names = {"nimbus", "daemon.out", "a-1/taxi-1-2/6700", "a-1/taxi-1-2/6700.err"}
    assert set(find_logs(folder)) == names


def test_the_last_lines_are_shown_and_long_ones_cut(folder: LabFolder) -> None:
    """A line of 20 kB does not bury the others."""
    two, cut = read_log(folder, "nimbus", 2)
    assert two == "two"
    assert cut.startswith("x" * LONGEST_LINE)
    assert cut.endswith("... (20000 characters)")
    assert len(cut) < LONGEST_LINE + 40


def test_an_unknown_log_is_refused(folder: LabFolder) -> None:
    """A wrong name is an error, with the way to the right ones."""
    with pytest.raises(LabError, match="no log is named 'nimbuss'"):
        read_log(folder, "nimbuss", 5)
