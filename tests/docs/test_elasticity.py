"""The scenario in docs/elasticity.md is one, and its policies run."""

from __future__ import annotations

import re
import textwrap
import tomllib
from pathlib import Path

import pytest

from experiments.elasticity.asked import Asked
from experiments.elasticity.scenario import Scenario
from experiments.elasticity.simulation import simulate
from provisioning.settings import ElasticSettings
from scheduler.elasticity.leasing.kinds import KINDS

GUIDE = (Path(__file__).parents[2] / "docs" / "elasticity.md").read_text(encoding="utf-8")


def test_the_sources_of_the_guide() -> None:
    found = [
        ElasticSettings.model_validate({"state_directory": "s", **tomllib.loads(textwrap.dedent(block))})
        for block in re.findall(r"(?<=\n\n)(    \[\[topology\.\w+\.lag\]\]\n(?:    .*\n)*)", GUIDE)
    ]
    kinds = [each.kind for settings in found for one in settings.topology.values() for each in one.lag]
    assert kinds == ["redis", "kafka"]


def scenario() -> Scenario:
    (block,) = re.findall(r"\n\n((?:    .*\n|\n)*    \[\[component\]\]\n(?:    .*\n|\n)*)", GUIDE)
    return Scenario.model_validate(tomllib.loads(textwrap.dedent(block)))


@pytest.mark.parametrize("policy", [*KINDS, "careful"])
def test_the_scenario_of_the_guide(policy: str) -> None:
    assert simulate(scenario(), Asked(policy, "steps", "10-minutes")).items > 0


def test_the_guide_names_every_policy() -> None:
    for name in KINDS:
        assert f"| `{name}` |" in GUIDE
