"""The record of rounds: one JSON line per round in compressed files that are bounded in size and number.

Each line is a gzip member of its own, so that a crash costs at most the line that was being written, and what
stands in a file can be read at any time.
"""

from __future__ import annotations

import base64
import errno
import gzip
import json
import os
import platform
import re
import threading
import zlib
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from bridge.round.memory import memory_from_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from bridge.round.memory import Memory

RECORD_VERSION = 1
_NAME = re.compile(r"^rounds-(\d{8})\.jsonl\.gz$")


class RecordError(ValueError):
    """Records cannot be written or read; one sentence with the place."""


@dataclass(frozen=True)
class RoundRecord:
    """One recorded round.

    Attributes:
        request: Bytes of the request.
        response: Bytes of the response.
        settings_json: The daemon's settings at that time.
        settings_digest: Their SHA-256.
        time_s: Unix time at which the round began.
        timings_ms: Duration by step of the work.
        timed_out: True if a search was cut short by the clock: a replay may find something else.
        versions: Versions of stormplace, python and numpy.
        now_s: Time of the round on the clock of the memory, None in records that know neither.
        memory: What was remembered before the round, None likewise.
        measured: What came of earlier plans, as the log says it.
    """

    request: bytes
    response: bytes
    settings_json: str
    settings_digest: str
    time_s: float
    timings_ms: Mapping[str, float]
    timed_out: bool
    versions: Mapping[str, str]
    now_s: float | None = None
    memory: Memory | None = None
    measured: tuple[Mapping[str, Any], ...] = ()

    def to_line(self) -> bytes:
        """Return the record as one line of JSON."""
        data: dict[str, object] = {
            "record_version": RECORD_VERSION,
            "time_s": self.time_s,
            "timings_ms": dict(self.timings_ms),
            "timed_out": self.timed_out,
            "versions": dict(self.versions),
            "settings": json.loads(self.settings_json),
            "settings_digest": self.settings_digest,
            "request": base64.b64encode(self.request).decode(),
            "response": base64.b64encode(self.response).decode(),
        }
        if self.memory is not None:
            data["now_s"] = self.now_s
            data["memory"] = json.loads(self.memory.to_json())
        if self.measured:
            data["measured"] = [dict(each) for each in self.measured]
        return json.dumps(data, sort_keys=True, separators=(",", ":")).encode() + b"\n"


def versions() -> dict[str, str]:
    """Versions that a plan may depend on."""
    found = {"python": platform.python_version()}
    for name in ("stormplace", "numpy", "ortools"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "unknown"
    return found


class RecordWriter:
    """Appends records; safe to use from several threads.

    Args:
        directory: Where record files live; it is created with its parents.
        max_bytes: Size at which a file is closed.
        files: Files kept.

    Raises:
        RecordError: The directory cannot be created or written.
    """

    def __init__(self, directory: Path, max_bytes: int, files: int) -> None:
        self._directory = directory
        self._max_bytes = max_bytes
        self._files = files
        self._lock = threading.Lock()
        probe = directory / f".writable-{os.getpid()}"
        try:
            directory.mkdir(parents=True, exist_ok=True)
            probe.touch()
            probe.unlink()
            self._number = max((number for number, _ in _record_files(directory)), default=1)
        except OSError as error:
            raise RecordError(f"{directory}: records cannot be written there ({error.strerror})") from error

    def append(self, record: RoundRecord) -> None:
        """Write one record.

        Raises:
            RecordError: The record could not be written; what stood in the file before is intact.
        """
        member = gzip.compress(record.to_line(), compresslevel=6, mtime=0)
        with self._lock:
            path = self._path()
            try:
                if path.exists() and path.stat().st_size + len(member) > self._max_bytes:
                    self._number += 1
                    path = self._path()
                self._write(path, member)
                self._drop_old_files()
            except OSError as error:
                raise RecordError(f"{path}: record not written ({error.strerror})") from error

    def _path(self) -> Path:
        return self._directory / f"rounds-{self._number:08d}.jsonl.gz"

    @staticmethod
    def _write(path: Path, member: bytes) -> None:
        # Unbuffered: what could not be written must not be tried again when the file is closed.
        with path.open("ab", buffering=0) as file:
            before = file.seek(0, os.SEEK_END)
            written = file.write(member)
        if written != len(member):
            # Half a member would hide all that is appended later.
            os.truncate(path, before)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def _drop_old_files(self) -> None:
        for number, path in _record_files(self._directory):
            if number <= self._number - self._files:
                path.unlink()


def read_records(path: Path) -> Iterator[RoundRecord]:
    """Read the records of a file, or of all files of a directory, oldest first.

    A line that a crash cut off at the end of a file is left out.

    Args:
        path: File or directory.

    Raises:
        RecordError: A file cannot be read or holds no records of a known version.
    """
    paths = [found for _, found in _record_files(path)] if path.is_dir() else [path]
    for each in paths:
        try:
            data = each.read_bytes()
        except OSError as error:
            raise RecordError(f"{each}: cannot be read ({error.strerror})") from error
        for number, line in enumerate(_lines(data, each), start=1):
            yield _record(line, f"{each}, line {number}")


def _lines(data: bytes, path: Path) -> Iterator[bytes]:
    while data:
        member = zlib.decompressobj(wbits=31)
        try:
            line = member.decompress(data)
        except zlib.error as error:
            raise RecordError(f"{path}: is no record file ({error})") from error
        if not member.eof:
            return
        yield line
        data = member.unused_data


def _record(line: bytes, place: str) -> RoundRecord:
    try:
        data: dict[str, Any] = json.loads(line)
        if data["record_version"] != RECORD_VERSION:
            raise RecordError(f"{place}: record version {data['record_version']} is not known here")
        return RoundRecord(
            request=base64.b64decode(data["request"], validate=True),
            response=base64.b64decode(data["response"], validate=True),
            settings_json=json.dumps(data["settings"]),
            settings_digest=data["settings_digest"],
            time_s=data["time_s"],
            timings_ms=data["timings_ms"],
            timed_out=data["timed_out"],
            versions=data["versions"],
            now_s=float(data["now_s"]) if "memory" in data else None,
            memory=memory_from_json(json.dumps(data["memory"])) if "memory" in data else None,
            measured=tuple(data.get("measured", ())),
        )
    except (KeyError, TypeError) as error:
        raise RecordError(f"{place}: field {error} is missing or of the wrong type") from error
    except ValueError as error:
        if isinstance(error, RecordError):
            raise
        raise RecordError(f"{place}: is no record ({error})") from error


def _record_files(directory: Path) -> list[tuple[int, Path]]:
    matches = [(_NAME.match(path.name), path) for path in directory.iterdir()]
    return sorted((int(match[1]), path) for match, path in matches if match)
