"""The commands that put rows into Redis say what they do, and refuse bad input with one sentence."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cli.taxi.taxi_replay_display import ReplayDisplay
from topologies.taxi.keys import PACED_ROWS_BEGIN
from topologies.taxi.replay.outcome import Outcome, Progress

if TYPE_CHECKING:
    from collections.abc import Callable

REDIS = ("--redis", "127.0.0.1:1", "--run", "r")
ROWS = Path(__file__).parents[3] / "data" / "debs2015" / "debs2015_year_head100.csv"


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (("feed", "none.csv", *REDIS), 2, "none.csv cannot be read"),
        (("feed", ROWS, *REDIS, "--paced-rows", "3"), 2, "--paced-rows needs --rate"),
        (("feed", ROWS, *REDIS), 1, "Redis 127.0.0.1:1: Connection refused"),
        (("feed", __file__, *REDIS), 2, "test_taxi_replay.py, line 1 has 2 columns, not 17"),
        (("replay", "none.csv", *REDIS, "--fast"), 2, "none.csv cannot be read"),
        (("replay", __file__, *REDIS, "--fast"), 2, "test_taxi_replay.py, line 1 has 2 columns, not 17"),
        (("replay", "{tmp}", *REDIS, "--fast"), 2, "is no finished trips table: it has no _SUCCESS"),
        (("feed", ROWS, *REDIS, "--rate", "inf"), 2, "--rate: inf is not a finite number"),
        (("replay", ROWS, *REDIS, "--rate", "inf"), 2, "--rate: inf is not a finite number"),
        (("replay", ROWS, *REDIS, "--speed", "inf"), 2, "--speed: inf is not a finite number"),
        (("replay", ROWS, *REDIS), 2, "give exactly one of --speed, --rate and --fast"),
        (("replay", ROWS, *REDIS, "--fast", "--rate", "1"), 2, "exactly one of --speed, --rate and --fast"),
        (("replay", ROWS, "--redis", "x", "--run", "r", "--fast"), 2, "--redis: 'x' is not HOST:PORT"),
        (("replay", ROWS, *REDIS, "--run", "a b", "--fast"), 2, "--run: run 'a b' must be"),
        (("replay", ROWS, *REDIS, "--fast"), 1, "Redis 127.0.0.1:1: Connection refused"),
    ],
)
def test_bad_input_is_one_sentence(
    tmp_path: Path,
    stormplace: Callable[..., tuple[int, str, str]],
    arguments: tuple[str | Path, ...],
    status: int,
    message: str,
) -> None:
    """Names what is wrong, no trace, non-zero exit."""
    got, _, text = stormplace("taxi", *(str(each).replace("{tmp}", str(tmp_path)) for each in arguments))
    assert (got, message in text) == (status, True), text
    assert text.count("\n") == 1
    assert text.startswith("stormplace: ")


def test_feeding_announces_paced_rows_once(
    stormplace: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line of its own, when the first of them is in Redis."""

    def feed_file(*_: object, report: Any, stopped: Any) -> Outcome:  # noqa: ARG001 - as it is called
        for phase in ("fast", "draining", "paced", "paced"):
            sys.stderr.write(f"now {phase}\n")
            report(Progress(phase, 3, 4, 0.75, 2))
        return Outcome(fed=4, ended=True)

    monkeypatch.setattr("topologies.taxi.feed.feed_file", feed_file)
    status, out, text = stormplace("taxi", "feed", ROWS, *REDIS, "--rate", "1")
    assert (status, out) == (0, "fed 4 rows to run r\n")
    lines = text.splitlines()
    assert lines[lines.index("now paced") + 1] == PACED_ROWS_BEGIN
    assert lines.count(PACED_ROWS_BEGIN) == 1
    assert lines.index("now draining") + 1 == lines.index("now paced")


def test_what_is_waited_for_is_said_when_it_begins_and_ends(capsys: pytest.CaptureFixture[str]) -> None:
    """Each a line of its own, however often it is reported."""
    display = ReplayDisplay()
    for note in ("", "REDIS IS FULL", "REDIS IS FULL", "Redis is away", "", ""):
        display.report(Progress("waiting" if note else "fast", 3, None, 0.5, 2, note=note))
    lines = capsys.readouterr().err.splitlines()
    assert lines == ["REDIS IS FULL: waiting", "Redis is away: waiting", "going on"]


def test_a_line_shows_rows_rate_lag_and_what_is_ahead(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Now and then; the rate is that since the last line."""
    now_s = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now_s[0])
    display = ReplayDisplay()
    for now_s[0], fed in ((100.0, 1_000), (104.0, 2_000), (106.0, 4_000), (111.0, 5_000)):
        display.report(Progress("paced", fed, 10_000, fed / 10_000, fed - 30, 1.25))
    assert capsys.readouterr().err.splitlines() == [
        PACED_ROWS_BEGIN,
        "40%, 4,000 of 10,000 rows, 500 rows/s, paced, 1.2 ms late, 30 rows ahead of the results",
        "50%, 5,000 of 10,000 rows, 200 rows/s, paced, 1.2 ms late, 30 rows ahead of the results",
    ]
