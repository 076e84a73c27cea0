"""Files of results appear together, or a folder stays as it was."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from topologies.collecting import result_folder

if TYPE_CHECKING:
    from pathlib import Path


def test_files_appear_at_the_end_with_their_sub_folders(tmp_path: Path) -> None:
    """Before the end nothing is changed in the folder but a hidden scratch folder."""
    out = tmp_path / "new" / "out"
    with result_folder(out) as scratch:
        (scratch / "summary.json").write_text("1")
        (scratch / "query2").mkdir()
        (scratch / "query2" / "top.csv").write_text("2")
        assert [path for path in out.iterdir() if not path.name.startswith(".")] == []
    assert sorted(str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()) == [
        "query2/top.csv",
        "summary.json",
    ]
    assert [path for path in out.iterdir() if path.name.startswith(".")] == []


def test_an_error_leaves_older_results_as_they_were(tmp_path: Path) -> None:
    """A run that cannot be collected does not replace the files of another."""
    (tmp_path / "summary.json").write_text("old")

    def interrupted() -> None:
        with result_folder(tmp_path) as scratch:
            (scratch / "summary.json").write_text("new")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert [path.name for path in tmp_path.iterdir()] == ["summary.json"]
    assert (tmp_path / "summary.json").read_text() == "old"


def test_an_error_leaves_no_folder_that_was_not_there(tmp_path: Path) -> None:
    """Parents that were made go as well."""
    with pytest.raises(ValueError, match="no results"), result_folder(tmp_path / "a" / "b"):
        raise ValueError("no results")
    assert list(tmp_path.iterdir()) == []
