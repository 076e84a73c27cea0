"""The guide docs/adding-a-constraint.md, followed to the letter on a copy of the packages."""

from __future__ import annotations

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
    "docs",
    "pyproject.toml",
)
MOST_FILES = 8
"""A linear constraint with its test and document touches no more."""


def test_the_guide_leads_to_a_constraint_that_every_strategy_keeps(tmp_path: Path) -> None:
    """Its files are written, its changes are made, and its commands succeed."""
    guide = Guide.copied("adding-a-constraint.md", COPIED, tmp_path)
    touched = guide.followed()

    assert 0 < len(touched) <= MOST_FILES
    assert [command.split()[0] for command in guide.commands()] == ["pytest", "pytest", "ruff", "ruff"]
    for command in guide.commands():
        guide.run(command)
