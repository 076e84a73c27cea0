"""How busy the processors were: kept per run, and said in one sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from experiments.busy import BUSY, DISTURBED_ABOVE, busy_sentence, is_disturbed, read_busy, write_busy
from replay.errors import DataError

if TYPE_CHECKING:
    from pathlib import Path


def test_a_share_survives_its_file_and_need_not_be_there(tmp_path: Path) -> None:
    assert read_busy(tmp_path) is None
    write_busy(tmp_path, 0.25)
    assert read_busy(tmp_path) == 0.25


@pytest.mark.parametrize("content", ['{"busy": 1.5}', '{"busy": true}', '{"busy": "0.3"}', "{}"])
def test_another_content_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / BUSY).write_text(content)
    with pytest.raises(DataError, match=r"busy\.json: busy: expected a number from 0 to 1"):
        read_busy(tmp_path)


@pytest.mark.parametrize(
    ("shares", "sentence"),
    [
        ({}, "How busy the processors were while times were measured is not known."),
        ({"even": None}, "How busy the processors were while times were measured is not known."),
        (
            {"even": 0.3},
            "Processors busy while times were measured: 30%; no run was disturbed (above 80%).",
        ),
        (
            {"even": 0.3, "ras": None, "ours": DISTURBED_ABOVE},
            "Processors busy while times were measured: 30% to 80%; no run was disturbed (above 80%).",
        ),
        (
            {"even": 0.3, "ours": 0.951},
            "Processors busy while times were measured: 30% to 95%. DISTURBED, above 80%, and not to be "
            "compared: ours (95%).",
        ),
    ],
)
def test_the_sentence_names_the_runs_that_were_disturbed(
    shares: dict[str, float | None], sentence: str
) -> None:
    assert busy_sentence(shares) == sentence


def test_what_is_not_known_is_not_called_disturbed() -> None:
    assert [is_disturbed(share) for share in (None, DISTURBED_ABOVE, 0.81)] == [False, False, True]
