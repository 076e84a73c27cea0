"""What a run came to, as the collector writes it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.reference.query1 import query1
from topologies.taxi.run_files import RunFiles

if TYPE_CHECKING:
    from pathlib import Path

    from tests.reference.query1 import Answers


@pytest.fixture(scope="session")
def expected(lines: list[str]) -> Answers:
    """The plain reference's answers of query 1 for the 10,004 real rows."""
    return query1(lines)


def written(folder: Path, query: str, entries: list[tuple[str, dict[str, str]]]) -> dict[str, list[str]]:
    """The collector's files of a query, line by line, without what depends on the time."""
    folder.mkdir(parents=True, exist_ok=True)
    with RunFiles(folder, query) as files:
        for identity, fields in entries:
            files.add(identity, fields)
    assert files.faults == []
    assert files.ended
    read = {path.name: path.read_text(encoding="utf-8").splitlines() for path in folder.iterdir()}
    for name in ("results.csv", "trails.csv"):
        read[name] = [line.split(",")[0] for line in read[name]]
    read["output.csv"] = [line.rpartition(",")[0] for line in read["output.csv"]]
    read["rejected"] = [f"{reason} {count}" for reason, count in sorted(files.rejected.items())]
    return read


def said(answers: Answers) -> dict[str, list[str]]:
    """A reference's answers as the files have them."""
    states = [
        json.dumps({"n": n, "dropoff": dropoff, "state": state}, separators=(",", ":"))
        for n, dropoff, state in answers.states
    ]
    tops = [row for _, row in answers.tops]
    numbers = ["n", *map(str, answers.passed)]
    return {
        "results.csv": numbers,
        "trails.csv": numbers,
        "tops.csv": tops,
        "output.csv": tops,
        "states.jsonl": states,
        "rejected": [f"{reason} {count}" for reason, count in sorted(answers.rejected.items())],
    }
