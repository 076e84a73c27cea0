"""The group `taxi` refuses bad input with one sentence and a status."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest

from cli.taxi_replay import PACED_ROWS_BEGIN
from topologies.taxi.feed import FeedProgress

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

REDIS = ("--redis", "127.0.0.1:1", "--run", "r")
ENDS = ("--nimbus", "127.0.0.1:1", "--redis", "127.0.0.1:1", "--run", "r", "--name", "t")


@pytest.fixture
def run(
    monkeypatch: pytest.MonkeyPatch, stormplace: Callable[..., tuple[int, str, str]]
) -> Callable[..., tuple[int, str]]:
    """Runs the command line in this process; returns exit status and standard error.

    A Redis that refuses is asked again at once.
    """
    monkeypatch.setattr("cli.taxi_input.REDIS_LONGEST_PAUSE_S", 0.0)

    def run_taxi(*arguments: str) -> tuple[int, str]:
        status, _, err = stormplace("taxi", *arguments)
        return status, err

    return run_taxi


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (("submit", *ENDS), 1, "Nimbus 127.0.0.1:1 cannot be reached"),
        (("submit", *ENDS, "--nimbus", "here"), 2, "--nimbus: 'here' is not HOST:PORT"),
        (("submit", *ENDS, "--redis", "redis:"), 2, "--redis: 'redis:' is not HOST:PORT"),
        (("submit", *ENDS, "--run", "a b"), 2, "--run: run 'a b' must be"),
        (("submit", *ENDS, "--pin", "dataSource=a"), 2, "--pin dataSource=a: it must be COMPONENT=site:NAME"),
        (("submit", *ENDS, "--pin", "sink=site:a"), 2, "no component 'sink'; there are dataSource, parser"),
        (("submit", *ENDS, "--conf", "none.json"), 2, "--conf none.json: No such file"),
        (
            ("submit", *ENDS, "--python-env", "/none"),
            2,
            "--python-env: /none/bin/streamparse_run",
        ),
        (("kill", "--nimbus", "127.0.0.1:1", "--name", "t"), 1, "Nimbus 127.0.0.1:1 cannot be reached"),
        (("placement", "--nimbus", "127.0.0.1:1", "--name", "t"), 1, "Nimbus 127.0.0.1:1 cannot be reached"),
        (("feed", "none.csv", *REDIS), 2, "none.csv cannot be read"),
        (
            ("feed", "x", *REDIS, "--paced-rows", "3"),
            2,
            "--paced-rows needs --rate",
        ),
        (("feed", __file__, *REDIS), 1, "Redis 127.0.0.1:1: Error 111"),
        (
            ("collect", *REDIS, "--out", "{tmp}"),
            1,
            "Redis 127.0.0.1:1: Error 111",
        ),
    ],
)
def test_bad_input_is_one_sentence(
    tmp_path: Path,
    run: Callable[..., tuple[int, str]],
    arguments: tuple[str, ...],
    status: int,
    message: str,
) -> None:
    """Names what is wrong, no trace, non-zero exit."""
    got, text = run(*(argument.replace("{tmp}", str(tmp_path)) for argument in arguments))
    assert (got, message in text) == (status, True), text
    assert text.count("\n") == 1
    assert text.startswith("stormplace: ")


@pytest.mark.parametrize(
    ("content", "message"),
    [("{", "no JSON: "), ("[1]", "it must hold a JSON object")],
)
def test_bad_configuration_files_are_named(
    tmp_path: Path, run: Callable[..., tuple[int, str]], content: str, message: str
) -> None:
    """File and fault, before Nimbus is asked."""
    path = tmp_path / "conf.json"
    path.write_text(content)
    status, text = run("submit", *ENDS, "--conf", str(path))
    assert (status, f"--conf {path}: {message}" in text) == (2, True), text


def test_feeding_announces_paced_rows_once(
    tmp_path: Path, run: Callable[..., tuple[int, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line of its own, when the first of them is in Redis."""

    class Feeder:
        def __init__(self, _redis: object, _run: object, _plan: object, report: Any) -> None:
            self.report = report

        def feed(self, _file: Path) -> int:
            for phase in ("fast", "draining", "paced", "paced"):
                sys.stderr.write(f"now {phase}\n")
                self.report(FeedProgress(phase, 3, 4, 2))
            return 4

    monkeypatch.setattr("topologies.taxi.feed.Feeder", Feeder)
    status, text = run("feed", str(tmp_path / "rows.csv"), *REDIS, "--rate", "1")
    assert status == 0
    told = text.splitlines()
    assert told[told.index("now paced") + 1] == PACED_ROWS_BEGIN
    assert told.count(PACED_ROWS_BEGIN) == 1
    assert told.index("now draining") + 1 == told.index("now paced")
