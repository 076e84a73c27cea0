"""The group `taxi` refuses bad input with one sentence and a status."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

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
    monkeypatch.setattr("cli.taxi.taxi_input.REDIS_LONGEST_PAUSE_S", 0.0)

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
        (("submit", *ENDS, "--pin", "parser=tier:mist"), 2, "or COMPONENT=tier:TIER (edge, fog, cloud)"),
        (("submit", *ENDS, "--pin", "parser=tier:fog"), 1, "Nimbus 127.0.0.1:1 cannot be reached"),
        (("submit", *ENDS, "--pin", "sink=site:a"), 2, "no component 'sink'; there are dataSource, parser"),
        (
            ("submit", *ENDS, "--pin", "parser=site:a", "--pin", "parser=host:b"),
            2,
            "--pin parser=host:b: parser is pinned to site:a already",
        ),
        (("submit", *ENDS, "--conf", "none.json"), 2, "--conf none.json: No such file"),
        (
            ("submit", *ENDS, "--python-env", "/none"),
            2,
            "--python-env: /none/bin/streamparse_run",
        ),
        (("kill", "--nimbus", "127.0.0.1:1", "--name", "t"), 1, "Nimbus 127.0.0.1:1 cannot be reached"),
        (("placement", "--nimbus", "127.0.0.1:1", "--name", "t"), 1, "Nimbus 127.0.0.1:1 cannot be reached"),
        (
            ("collect", *REDIS, "--out", "{tmp}"),
            1,
            "Redis 127.0.0.1:1: Connection refused",
        ),
        (
            ("submit", *ENDS, "--name", "ta/xi"),
            2,
            "--name 'ta/xi': Storm wants letters, digits, '_', '-' and blanks in a topology's name",
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


@pytest.mark.parametrize("group", ["taxi", "synthetic"])
def test_collecting_without_redis_leaves_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stormplace: Callable[..., Any], group: str
) -> None:
    """Neither the one that is asked for nor those above it; one that was there stays."""
    monkeypatch.setattr("cli.taxi.taxi_input.REDIS_LONGEST_PAUSE_S", 0.0)
    status, _, text = stormplace(group, "collect", *REDIS, "--out", str(tmp_path / "new" / "out"))
    assert (status, text) == (1, "stormplace: Redis 127.0.0.1:1: Connection refused\n")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "there").mkdir()
    stormplace(group, "collect", *REDIS, "--out", str(tmp_path / "there"))
    assert [path.name for path in tmp_path.iterdir()] == ["there"]


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
