"""The folder of an experiment: made once, taken up again only with the same settings, by one at a time."""

from __future__ import annotations

import fcntl
import hashlib
import os
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TypeVar

from experiments.errors import ExperimentError
from experiments.folder_content import KIND, SETTINGS, SITES, experiment_kind
from replay.errors import DataError
from replay.output import read_json, write_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from _typeshed import DataclassInstance

Name = TypeVar("Name", bound=str)

_LOCK = ".lock"
_SCRATCH = f".{SETTINGS}-"
"""How the name of a file begins that an interruption has kept from becoming the settings."""


@contextmanager
def experiment_folder(folder: Path, kind: str, wanted: Mapping[str, object], sites: Path) -> Iterator[Path]:
    """Make an experiment's folder, or take up one with the same settings; no other process has it meanwhile.

    Args:
        folder: The folder.
        kind: Which experiment.
        wanted: What must stay the same within a folder, as JSON values.
        sites: Site file; a copy stays in the folder.

    Yields:
        The folder, absolute.

    Raises:
        ExperimentError: The folder is in use, another experiment's or somebody else's, or cannot be written.
    """
    with ExitStack() as stack:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if not any((folder / name).exists() for name in (_LOCK, SETTINGS)):
                _refuse_others_files(folder, sites.read_bytes())  # before the lock becomes one more
            stack.enter_context(_alone_in(folder))
            if (folder / SETTINGS).exists():
                _compare(folder, kind, wanted)
            else:
                _make(folder, wanted, sites)
        except OSError as error:
            raise ExperimentError(f"--out: {folder} cannot be used: {error.strerror}") from error
        except DataError as error:
            raise ExperimentError(f"--out: {error}") from error
        yield folder.resolve()


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Hold the folder's lock, which the kernel frees whatever ends this process; its children have none.

    It is on a file open for writing, as NFS locks no other. The file stays: who removes it while another
    process waits to lock it leaves that one with a lock that keeps no other out.
    """
    descriptor = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ExperimentError(
                f"--out: an experiment is running in {folder}; choose another folder"
            ) from None
        yield
    finally:
        os.close(descriptor)


def _make(folder: Path, wanted: Mapping[str, object], sites: Path) -> None:
    """Write what stays: the settings last and in one step, so that who finds them finds all."""
    content = sites.read_bytes()
    _refuse_others_files(folder, content)
    scratch = list(folder.glob(f"{_SCRATCH}*"))
    (folder / SITES).write_bytes(content)
    write_json(folder / SETTINGS, wanted)
    for path in scratch:
        path.unlink()


def _refuse_others_files(folder: Path, sites: bytes) -> None:
    """Refuse a folder that holds more than an interrupted start leaves."""
    for path in folder.iterdir():
        if path.name != _LOCK and not path.name.startswith(_SCRATCH) and not _is_copy(path, sites):
            raise ExperimentError(f"--out: {folder} holds other files; choose a new or empty folder")


def _is_copy(path: Path, content: bytes) -> bool:
    """Whether a file is the copy of the site file, as far as an interrupted start has come with it."""
    return path.name == SITES and path.is_file() and content.startswith(path.read_bytes())


def _compare(folder: Path, kind: str, wanted: Mapping[str, object]) -> None:
    present_kind = experiment_kind(folder)
    if present_kind != kind:
        raise ExperimentError(f"--out: {folder} holds the experiment {present_kind}; choose another folder")
    present = read_json(folder / SETTINGS)
    differing = [key for key, value in wanted.items() if key != KIND and present.get(key) != value]
    if differing:
        raise ExperimentError(
            f"--out: {folder} holds an experiment with another {', '.join(differing)} ({SETTINGS}); "
            "choose another folder"
        )


def kept_settings(settings: DataclassInstance) -> dict[str, Any]:
    """Return what must stay the same within a folder, as JSON values: all fields but how long the lab rests.

    Args:
        settings: An experiment's settings; of the files `data` and `sites` the SHA-256 is kept.
    """
    fields = asdict(settings)
    del fields["settle_s"]
    digests = {f"{name}_sha256": _digest(fields.pop(name)) for name in ("data", "sites")}
    return digests | fields


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def chosen(option: str, text: str, known: Iterable[Name]) -> list[Name]:
    """Return the names of a comma-separated list.

    Raises:
        ExperimentError: An unknown name, or one that is named twice.
    """
    by_name: dict[str, Name] = {name: name for name in known}
    names = []
    for part in map(str.strip, text.split(",")):
        if part not in by_name:
            raise ExperimentError(f"{option}: {part!r} is not one of {', '.join(by_name)}")
        if part in names:
            raise ExperimentError(f"{option}: {part} is named twice")
        names.append(by_name[part])
    return names
