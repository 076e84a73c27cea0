"""Lines of the log: one JSON object per event."""

from __future__ import annotations

import errno
import io
import json
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from bridge.settings import LogSettings
from formats.log import LEVELS, Log


def _lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_line_carries_the_event_its_fields_and_those_of_the_log() -> None:
    stream = io.StringIO()
    before = datetime.now(UTC)
    Log(stream=stream, host="h1").warning("peer-silent", peer="zürich\n", lost=3)
    (line,) = _lines(stream)
    assert before <= datetime.fromisoformat(line.pop("timestamp")) <= datetime.now(UTC)
    assert line == {"host": "h1", "peer": "zürich\n", "lost": 3, "event": "peer-silent", "level": "warning"}


class FullDisk(io.StringIO):
    def flush(self) -> None:
        raise OSError(errno.ENOSPC, "no space left")


def test_a_disk_that_is_full_ends_nothing() -> None:
    Log(stream=FullDisk()).info("a")


@pytest.mark.parametrize(("least", "written"), [("debug", 3), ("info", 3), ("warning", 2), ("error", 1)])
def test_only_events_of_at_least_the_level_are_written(least: str, written: int) -> None:
    stream = io.StringIO()
    log = Log(least, stream)
    log.info("a")
    log.warning("b")
    log.error("c")
    assert len(_lines(stream)) == written


def test_the_levels_are_those_of_the_settings() -> None:
    for level in LEVELS:
        assert LogSettings.model_validate({"level": level}).level == level


def test_an_exception_comes_with_its_trace() -> None:
    stream = io.StringIO()
    log = Log(stream=stream)
    try:
        Path("/no/such/file").read_bytes()
    except FileNotFoundError:
        log.exception("round failed", round_id="r1")
    (line,) = _lines(stream)
    assert line["level"] == "error"
    assert line["exception"].startswith("Traceback")
    assert line["exception"].endswith("No such file or directory: '/no/such/file'")


def test_what_json_has_no_form_for_is_shown_as_python_shows_it() -> None:
    stream = io.StringIO()
    Log(stream=stream).info("a", path=Path("x"))
    assert _lines(stream)[0]["path"] == repr(Path("x"))


def test_lines_of_several_threads_stay_whole() -> None:
    stream = io.StringIO()
    log = Log(stream=stream)
    threads = [threading.Thread(target=lambda: [log.info("a" * 500) for _ in range(50)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(_lines(stream)) == 200
