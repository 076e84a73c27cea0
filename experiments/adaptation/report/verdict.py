"""What the comparison with the expected answers said, in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from experiments.folder_content import KeptVerdict, read_model
from replay.pipeline import VERDICT

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Answers:
    """What is known of a scenario's answers.

    Attributes:
        equal: Whether all of them are the expected ones; None if they have not been compared.
        told: The same in words, with the first difference.
    """

    equal: bool | None
    told: str


def read_answers_verdict(turn: Path, last_row: int) -> Answers:
    """Return how the answers compare with the expected ones.

    Args:
        turn: A scenario's folder.
        last_row: The last row that was answered before the query first moved.

    Raises:
        DataError: The verdict is malformed.
    """
    path = turn / VERDICT
    if not path.is_file():
        return Answers(equal=None, told="not compared with the expected ones")
    verdict = read_model(KeptVerdict, path)
    first = verdict.first
    if first is None:
        return Answers(equal=True, told="as expected")
    rows = [each.row for each in verdict.differences if each.row is not None]
    if rows and min(rows) > last_row:
        first = f"as expected up to the first move (row {last_row}), and then: {first}"
    return Answers(equal=False, told=first)
