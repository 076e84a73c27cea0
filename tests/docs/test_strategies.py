"""docs/strategies.md and the registry name the same strategies and parameters."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

from scheduler.registry import STRATEGIES

TEXT = (Path(__file__).parents[2] / "docs" / "strategies.md").read_text()


def test_the_table_lists_every_strategy_and_no_other() -> None:
    """One row each, in the first table."""
    table = TEXT[: TEXT.index("## What is minimised")]

    assert sorted(re.findall(r"^\| `([a-z0-9-]+)`", table, re.MULTILINE)) == sorted(STRATEGIES)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_strategy_has_a_section_that_names_its_parameters_with_their_defaults(strategy: str) -> None:
    """In a row of a table below the strategies, as `stormplace solve --set` takes them."""
    sections = TEXT[TEXT.index("## The strategies") : TEXT.index("## Large networks")]

    assert re.search(rf"^### .*`{strategy}`", sections, re.MULTILINE)
    rows = re.findall(r"^\| ([^|]*) \| ([^|]*) \|", sections, re.MULTILINE)
    stated = {
        (name, _value(default))
        for names, defaults in rows
        for name, default in zip(re.findall(r"`(\w+)`", names), defaults.split(","), strict=False)
    }
    for field in dataclasses.fields(STRATEGIES[strategy].parameters):
        assert (field.name, _value(str(field.default))) in stated


def _value(text: str) -> str | float:
    """Return a default as a number if it is one, so that 300 equals 300.0."""
    text = text.strip(" `")
    try:
        return float(text)
    except ValueError:
        return text
