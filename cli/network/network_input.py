"""What `network` looks at: a file of readings, or the last of recorded rounds."""

from __future__ import annotations

import json
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from bridge.faults import phrases
from bridge.record.record import RecordError, read_records
from bridge.settings_file import SettingsError, settings_from_json
from bridge.wire.contract import VERSION, WireError
from bridge.wire.encoding import decode_request
from bridge.wire.messages import Drain, PlanRequest, Reading, ReadingKind, Supervisor
from cli.errors import UserError
from cli.solve.solve_input import read_json
from formats.packed_content import unpack

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from bridge.settings import Settings

NOTHING_TO_SHOW = 3
"""Exit status where there is no reading."""
_GZIP = b"\x1f\x8b"
_Name = Annotated[str, Field(min_length=1)]
_Seconds = Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)]


@dataclass(frozen=True)
class Snapshot:
    """Readings of one moment.

    Attributes:
        request: Readings and, if they are known, supervisors.
        supervisors_known: Whether the request's supervisors are all there are.
        metadata_known: Whether these have their metadata, and with it the sites that it states.
        settings: Those under which the readings were used, None if they have not been used yet.
        origin: Where they come from, for people.
    """

    request: PlanRequest
    supervisors_known: bool
    metadata_known: bool
    settings: Settings | None
    origin: str


class _Entry(BaseModel):
    """A reading with its age, as `--json` writes it."""

    model_config = ConfigDict(strict=True, extra="ignore")
    name: _Name
    age_s: _Seconds
    content: Any


class _Document(BaseModel):
    """The part of `--json`'s output that can be read again."""

    model_config = ConfigDict(strict=True, extra="ignore")
    readings: list[_Entry]
    supervisors: list[_Name] | None = None
    drains: list[_Entry] = []


class _Plain(BaseModel):
    """A reading as it stands in ZooKeeper, as far as it has to be known here."""

    model_config = ConfigDict(strict=True, extra="ignore")
    host: _Name
    time: Annotated[float, Field(allow_inf_nan=False)]


def snapshot_of(
    readings: Iterable[Reading],
    supervisors: Iterable[str] | None,
    origin: str,
    settings: Settings | None = None,
    *,
    drains: Iterable[Drain] = (),
) -> Snapshot:
    """Put readings, drains and hosts of supervisors together; None stands for unknown supervisors."""
    names = sorted(set(supervisors or ()))
    request = PlanRequest(
        version=VERSION,
        round_id="",
        deadline_ms=0,
        supervisors=tuple(Supervisor(name, name, (), True, False, 0.0, 0.0, {}) for name in names),
        topologies=(),
        readings=tuple(readings),
        readings_live=True,
        drains=tuple(drains),
    )
    return Snapshot(request, supervisors is not None, False, settings, origin)


def read_snapshot(path: Path) -> Snapshot:
    """Read a JSON file (a list of readings, or what `--json` wrote), a record file, or a folder of these.

    Raises:
        UserError: There is nothing of the kind, with the place of the fault; status 3 if it holds no reading.
    """
    snapshot = _last_round(path) if path.is_dir() or _is_gzip(path) else _from_json(path)
    if not any(reading.kind is ReadingKind.NODE for reading in snapshot.request.readings):
        raise UserError(f"{snapshot.origin}: holds no reading of a host", status=NOTHING_TO_SHOW)
    return snapshot


def entry(reading: Reading) -> dict[str, object]:
    """Return a reading as `read_snapshot` reads it, unpacked; content that is no JSON stays text."""
    return _entry(reading.name, reading.age_ms, _unpacked(reading.payload))


def drain_entry(drain: Drain) -> dict[str, object]:
    """Return a drain likewise; its name is the place."""
    return _entry(drain.place, drain.age_ms, drain.payload)


def _entry(name: str, age_ms: int, payload: bytes) -> dict[str, object]:
    text = payload.decode(errors="replace")
    try:
        content = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        content = text
    return {"name": name, "age_s": age_ms / 1000.0, "content": content}


def _unpacked(payload: bytes) -> bytes:
    try:
        return unpack(payload)
    except ValueError:  # the table of faults says why
        return payload


def _refuse(constant: str) -> float:
    raise ValueError(constant)


def _is_gzip(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(_GZIP)) == _GZIP
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}") from None


def _last_round(path: Path) -> Snapshot:
    try:
        records = deque(read_records(path), maxlen=1)
        if not records:
            raise UserError(f"{path}: holds no recorded round", status=NOTHING_TO_SHOW)
        record = records[0]
        request = decode_request(record.request)
        settings = settings_from_json(record.settings_json)
    except RecordError as error:
        raise UserError(str(error)) from error
    except (WireError, SettingsError) as error:
        raise UserError(f"{path}: last round: {error}") from error
    return Snapshot(request, True, True, settings, f"round {request.round_id} in {path}")


def _from_json(path: Path) -> Snapshot:
    data = read_json(path)
    try:
        if isinstance(data, list):
            plain = TypeAdapter(list[_Plain]).validate_python(data)
            entries = [(each.host, each.time, content) for each, content in zip(plain, data, strict=True)]
            # Ages follow from their own clocks alone; the newest counts as just written.
            now_s = max((time_s for _, time_s, _ in entries), default=0.0)
            readings = [_reading(name, now_s - time_s, content) for name, time_s, content in entries]
            return snapshot_of(readings, None, str(path))
        document = _Document.model_validate(data)
    except ValidationError as error:
        raise UserError(f"{path}: {'; '.join(phrases(error)[:3])}") from None
    readings = [_reading(each.name, each.age_s, each.content) for each in document.readings]
    drains = [Drain(each.name, _payload(each.content), round(each.age_s * 1000)) for each in document.drains]
    return snapshot_of(readings, document.supervisors, str(path), drains=drains)


def _reading(name: str, age_s: float, content: object) -> Reading:
    return Reading(ReadingKind.NODE, name, _payload(content), round(age_s * 1000))


def _payload(content: object) -> bytes:
    text = content if isinstance(content, str) else json.dumps(content)
    return text.encode(errors="replace")
