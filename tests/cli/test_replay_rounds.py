"""The command `replay-rounds`: what it says of rounds that are the same, differ, or are none."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from bridge.record.record import RecordWriter, RoundRecord, versions
from bridge.round.memory import NOTHING
from bridge.round.planner import plan_round
from bridge.settings import Settings
from bridge.wire.encoding import decode_response, encode_request, encode_response
from cli.commands import app
from cli.errors import UserError
from tests.bridge.conftest import make  # noqa: F401  # a fixture

if TYPE_CHECKING:
    from pathlib import Path

    from tests.bridge.conftest import Make

SETTINGS = Settings()


@pytest.fixture
def planned(make: Make) -> RoundRecord:  # noqa: F811  # the fixture
    """A round of one topology, as the daemon records it."""
    request = make.cluster(make.taxi())
    done = plan_round(request, SETTINGS, lambda: 0.0)
    return RoundRecord(
        encode_request(request),
        encode_response(done.response),
        SETTINGS.to_json(),
        SETTINGS.digest(),
        1_000_000_000.25,
        {},
        timed_out=False,
        versions=versions(),
        now_s=0.0,
        memory=NOTHING,
    )


def run(folder: Path, *records: RoundRecord, options: tuple[str, ...] = ()) -> tuple[int, list[str]]:
    writer = RecordWriter(folder, 1 << 20, 3)
    for record in records:
        writer.append(record)
    done = CliRunner().invoke(app, ["replay-rounds", str(folder), *options])
    return done.exit_code, done.stdout.splitlines()


def test_equal_rounds_are_the_same(planned: RoundRecord, tmp_path: Path) -> None:
    status, lines = run(tmp_path, planned, planned, options=("--last", "1"))
    assert lines == ["2001-09-09 01:46:40.250 UTC  the same", "rounds: 1, differing: 0"]
    assert status == 0


def test_a_round_that_differs_is_named_and_fails(planned: RoundRecord, tmp_path: Path) -> None:
    """One that the clock had cut short may differ."""
    other = replace(planned, response=b"other")
    status, lines = run(tmp_path, planned, other, replace(other, timed_out=True))
    assert [line.partition("UTC  ")[2] for line in lines[:3]] == [
        "the same",
        "differs",
        "differs: the clock had cut it short",
    ]
    assert (status, lines[3]) == (1, "rounds: 3, differing: 1")


def test_a_round_that_differs_in_its_words_alone_is_the_same(planned: RoundRecord, tmp_path: Path) -> None:
    """They change from version to version."""
    response = decode_response(planned.response)
    (plan,) = response.plans
    words, strategy = replace(plan, status="in short: placed"), replace(plan, strategy="other")
    status, lines = run(
        tmp_path,
        *(
            replace(planned, response=encode_response(replace(response, plans=(each,))))
            for each in (words, strategy)
        ),
    )
    assert [line.partition("UTC  ")[2] for line in lines[:2]] == ["the same, in other words", "differs"]
    assert status == 1


def test_what_holds_no_rounds_is_refused(tmp_path: Path) -> None:
    for path, message in ((tmp_path, "no recorded rounds"), (tmp_path / "absent.gz", "cannot be read")):
        done = CliRunner().invoke(app, ["replay-rounds", str(path)])
        assert isinstance(done.exception, UserError)
        assert message in str(done.exception)
