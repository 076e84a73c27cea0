"""The guide docs/adding-a-metric.md, followed to the letter on a copy of the packages."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.docs.guide import Guide

if TYPE_CHECKING:
    from pathlib import Path

# it runs the contract suite of what the guide adds
pytestmark = [pytest.mark.programs, pytest.mark.timeout(400)]

COPIED = (
    "formats",
    "scheduler",
    "tests/conftest.py",
    "tests/scheduler",
    "benchmarks/instances",
    "docs/strategies.md",
    "pyproject.toml",
)
MOST_FILES = 6


def test_the_guide_leads_to_a_metric_that_keeps_the_contract(tmp_path: Path) -> None:
    """With few files touched, its commands succeed, and `solve` takes and states the metric."""
    guide = Guide.copied("adding-a-metric.md", COPIED, tmp_path)
    touched = guide.followed()

    assert 0 < len(touched) <= MOST_FILES
    assert [command.split()[0] for command in guide.commands()] == ["pytest", "ruff", "ruff"]
    for command in guide.commands():
        guide.run(command)
    instance = {
        "application": {
            "operators": [{"name": name, "execution_time_ms": 1.0} for name in "ab"],
            "streams": [{"from": "a", "to": "b", "rate": 10.0, "tuple_bytes": 1.0}],
        },
        "network": {
            "nodes": [
                {"name": "x", "capacity": {"slots": 2}, "joules_per_tuple": 3.0},
                {"name": "y", "capacity": {"slots": 1}, "joules_per_tuple": 0.5},
            ],
            "delay_ms": [[0, 1], [1, 0]],
        },
        "objective": {"weights": {"energy": 1}},
    }
    (tmp_path / "instance.json").write_text(json.dumps(instance))
    answer = json.loads(guide.run("cli.main solve instance.json --strategy local-search --json"))
    assert answer["placement"]["b"] == "y"
    assert answer["energy_w"] == 5.0
    assert answer["range"]["energy"] == [5.0, 30.0]
    assert "energy" in guide.run("cli.main solve instance.json --strategy local-search")
