"""What is analysed, how finely, and where it is split."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from replay.analysis.changes import read_split
from replay.analysis.runs import find_runs
from replay.analysis.timeline import SLICES, slice_width_s
from replay.errors import DataError

if TYPE_CHECKING:
    from pathlib import Path


def test_a_folder_without_results_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no folder of a run"):
        find_runs([tmp_path])


def test_runs_of_one_name_are_distinguished_by_their_paths_and_none_is_given_twice(tmp_path: Path) -> None:
    folders = [tmp_path / "a" / "even", tmp_path / "b" / "even", tmp_path / "c" / "ras"]
    for folder in folders:
        folder.mkdir(parents=True)
        (folder / "results.csv").touch()

    assert [run.run for run in find_runs(folders)] == [str(folders[0]), str(folders[1]), "ras"]
    with pytest.raises(DataError, match="the run is given twice"):
        find_runs([folders[2], folders[2]])


@pytest.mark.parametrize("span_s", [0.0, 1.0, 149.0, 151.0, 5_000.0, 400_000.0])
def test_slices_are_as_narrow_as_their_number_permits(span_s: float) -> None:
    width = slice_width_s(span_s)

    assert span_s <= width * SLICES
    assert width == 1 or span_s > SLICES * width / 2.6


@pytest.mark.parametrize("text", ["0", "-3", "inf", "nan", "soon", "2026-13-01"])
def test_what_is_no_moment_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"neither|not after"):
        read_split(text)


def test_a_moment_without_zone_is_utc() -> None:
    assert read_split("2026-11-21T23:00:00").unix_s == read_split("2026-11-21T23:00:00Z").unix_s
