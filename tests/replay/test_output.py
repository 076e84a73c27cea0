"""Outputs are whole or absent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from replay.errors import DataError, MachineError
from replay.output import MARK, read_json, replaced_folder, write_json

if TYPE_CHECKING:
    from pathlib import Path


def test_a_folder_is_replaced_as_a_whole(tmp_path: Path) -> None:
    for name in ("first", "second"):
        with replaced_folder(tmp_path / "out") as scratch:
            (scratch / MARK).write_text("{}")
            (scratch / name).touch()

    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["second", MARK]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def fail_inside(target: Path) -> None:
    with replaced_folder(target) as scratch:
        (scratch / "new").touch()
        raise KeyboardInterrupt


def test_an_interrupted_job_leaves_the_old_folder_and_nothing_else(tmp_path: Path) -> None:
    with replaced_folder(tmp_path / "out") as scratch:
        (scratch / MARK).write_text("{}")

    with pytest.raises(KeyboardInterrupt):
        fail_inside(tmp_path / "out")

    assert [path.name for path in (tmp_path / "out").iterdir()] == [MARK]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_ctrl_c_between_the_two_renames_leaves_the_old_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with replaced_folder(tmp_path / "out") as scratch:
        (scratch / MARK).write_text("{}")
    rename = type(tmp_path).rename

    def interrupted(source: Path, target: Path) -> None:
        if target.name == "out" and (source / "new").exists():
            raise KeyboardInterrupt
        rename(source, target)

    monkeypatch.setattr(type(tmp_path), "rename", interrupted)
    with pytest.raises(KeyboardInterrupt), replaced_folder(tmp_path / "out") as scratch:
        (scratch / "new").touch()

    assert [path.name for path in (tmp_path / "out").iterdir()] == [MARK]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_folder_with_other_files_is_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()

    with pytest.raises(DataError, match="holds other files"), replaced_folder(tmp_path):
        pass

    assert (tmp_path / "thesis.tex").exists()


def test_a_file_in_the_way_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out").touch()

    with pytest.raises(DataError, match="out: not a folder"), replaced_folder(tmp_path / "out"):
        pass


def test_what_cannot_be_written_is_no_fault_of_the_data(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(MachineError, match=r"x\.json: cannot be written: "):
        write_json(tmp_path / "file" / "x.json", {})
    with (
        pytest.raises(MachineError, match="out: cannot be written: "),
        replaced_folder(tmp_path / "file" / "sub" / "out"),
    ):
        pytest.fail("there is no room")


@pytest.mark.parametrize(("text", "message"), [("[1]", "expected a JSON object"), ("{", "not a JSON file")])
def test_json_that_is_no_object_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "a.json").write_text(text)

    with pytest.raises(DataError, match=message):
        read_json(tmp_path / "a.json")


def test_json_comes_back(tmp_path: Path) -> None:
    write_json(tmp_path / "deep" / "a.json", {"a": [1, "\u00e4"]})

    assert read_json(tmp_path / "deep" / "a.json") == {"a": [1, "\u00e4"]}
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["a.json"]
