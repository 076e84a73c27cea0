"""The folder of an experiment: by one command at a time, and whole or not begun."""

from __future__ import annotations

import errno
import fcntl
import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from experiments import folder as module
from experiments.errors import ExperimentError
from experiments.folder import experiment_folder
from replay.errors import DataError

if TYPE_CHECKING:
    from pathlib import Path

SETTINGS = {"experiment": "adaptation", "seed": 1}


@pytest.fixture
def sites(tmp_path: Path) -> Path:
    path = tmp_path / "some.toml"
    path.write_text("executors_per_host = 2\n", encoding="utf-8")
    return path


def take(out: Path, sites: Path, **changes: Any) -> Any:
    return experiment_folder(out, "adaptation", SETTINGS | changes, sites)


def test_a_folder_in_use_is_refused(tmp_path: Path, sites: Path) -> None:
    """In one sentence with status 2, as long as the other goes on."""
    out = tmp_path / "out"
    with take(out, sites) as taken:
        assert taken == out.resolve()
        with (
            pytest.raises(ExperimentError, match=r"an experiment is running in .*out; ") as end,
            take(out, sites),
        ):
            pytest.fail("there are two")
        assert end.value.status == 2
    with take(out, sites):
        assert json.loads((out / "experiment.json").read_text(encoding="utf-8")) == SETTINGS


def test_the_lock_is_one_that_nfs_has_too(
    tmp_path: Path, sites: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An exclusive lock there needs a descriptor that may write, which a folder never has."""
    flock = fcntl.flock

    def of_nfs(descriptor: int, operation: int) -> None:
        if fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        flock(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", of_nfs)
    with (
        take(tmp_path / "out", sites),
        pytest.raises(ExperimentError, match="an experiment is running in"),
        take(tmp_path / "out", sites),
    ):
        pytest.fail("there are two")


def test_a_lock_that_a_start_left_alone_is_no_obstacle(tmp_path: Path, sites: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / ".lock").touch()
    with take(out, sites):
        assert (out / "experiment.json").is_file()


def test_other_files_beside_a_lock_are_refused(tmp_path: Path, sites: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / ".lock").touch()
    (out / "letter.txt").touch()
    with pytest.raises(ExperimentError, match="holds other files"), take(out, sites):
        pytest.fail("not ours")


def test_a_start_that_was_interrupted_begins_anew(
    tmp_path: Path, sites: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The settings are written last; what was left of them before goes."""
    out = tmp_path / "out"

    def interrupted(path: Path, _document: object) -> None:
        (path.parent / f".{path.name}-x7").write_text('{"se', encoding="utf-8")
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(module, "write_json", interrupted)
        with pytest.raises(KeyboardInterrupt), take(out, sites):
            pytest.fail("interrupted")
    assert not (out / "experiment.json").exists()
    with take(out, sites):
        assert sorted(path.name for path in out.iterdir()) == [".lock", "experiment.json", "sites.toml"]
        assert (out / "sites.toml").read_bytes() == sites.read_bytes()


@pytest.mark.parametrize("length", [0, 5])
def test_a_copy_that_was_interrupted_is_written_anew(tmp_path: Path, sites: Path, length: int) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "sites.toml").write_bytes(sites.read_bytes()[:length])
    with take(out, sites):
        assert (out / "sites.toml").read_bytes() == sites.read_bytes()


@pytest.mark.parametrize("name", ["letter.txt", "sites.toml"])
def test_files_of_somebody_else_are_left_alone(tmp_path: Path, sites: Path, name: str) -> None:
    """A site file with another content too."""
    out = tmp_path / "out"
    out.mkdir()
    (out / name).write_text("mine", encoding="utf-8")
    with pytest.raises(ExperimentError, match="holds other files"), take(out, sites):
        pytest.fail("not ours")
    assert [(path.name, path.read_text(encoding="utf-8")) for path in out.iterdir()] == [(name, "mine")]


def test_a_folder_that_cannot_be_used_is_named(
    tmp_path: Path, sites: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file in its place, or settings that cannot be written."""
    (tmp_path / "file").touch()
    with (
        pytest.raises(ExperimentError, match=r"--out: .*file cannot be used: File exists"),
        take(tmp_path / "file", sites),
    ):
        pytest.fail("a file")

    def full(path: Path, _document: object) -> None:
        raise DataError(f"{path}: cannot be written: No space left on device")

    monkeypatch.setattr(module, "write_json", full)
    with (
        pytest.raises(ExperimentError, match=r"--out: .*experiment\.json: cannot be written"),
        take(tmp_path / "out", sites),
    ):
        pytest.fail("a full disk")


def test_an_error_of_the_experiment_is_not_the_folders(tmp_path: Path, sites: Path) -> None:
    with pytest.raises(OSError, match="mine"), take(tmp_path / "out", sites):
        raise OSError("mine")
