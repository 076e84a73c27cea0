"""Scenario files: what is wrong with one is said in one sentence with the place of each fault."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import ValidationError

from bridge.faults import phrases
from experiments.elasticity.scenario import Scenario
from formats.toml_file import TomlError, read_toml

if TYPE_CHECKING:
    from pathlib import Path


class ScenarioError(ValueError):
    """A scenario, or what a run asks of one, is refused: one sentence that names the place."""


def read_scenario(path: Path) -> Scenario:
    """Read a scenario file.

    Raises:
        ScenarioError: It cannot be read, is no TOML, or has unknown keys or bad values (all are named).
    """
    try:
        content = read_toml(path)
    except TomlError as error:
        raise ScenarioError(str(error)) from error
    try:
        return Scenario.model_validate(content)
    except ValidationError as error:
        raise ScenarioError(f"{path}: {'; '.join(phrases(error))}") from error
