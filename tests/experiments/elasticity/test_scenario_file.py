"""What is refused in a scenario file, in one sentence with the place."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import ValidationError

from bridge.faults import phrases
from experiments.elasticity.scenario import Scenario
from experiments.elasticity.scenario_file import ScenarioError, read_scenario
from tests.experiments.elasticity.scenarios import OFFER, ONE, SHIPPED, TWO, content

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("path", sorted(SHIPPED.glob("*.toml")), ids=lambda path: path.stem)
def test_what_is_shipped_is_accepted(path: Path) -> None:
    assert read_scenario(path).component


def test_demand_of_the_paper() -> None:
    """A machine's minute, 480 ms, has 16 items, which make 23.2 at all components."""
    demand = read_scenario(SHIPPED / "paper-003.toml").demand_per_s()
    assert sum(demand.values()) * 0.48 == pytest.approx(23.2, abs=0.01)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"step": 1}, "step: unknown key"),
        ({"duration_min": 0}, "duration_min: must be > 0.0, got 0"),
        ({"component": []}, "component: none has source_per_s > 0, so that there is no load"),
        ({"component": [ONE, ONE]}, 'component[1].name: "a" is there twice'),
        ({"component": [TWO]}, 'component[0].inputs: there is no component "a"'),
        (
            {"component": [{**ONE, "inputs": {"b": 1.0}}, TWO]},
            "component: items go round in a circle, a -> b -> a",
        ),
        (
            {"component": [{**ONE, "source_per_s": 0}]},
            "component: none has source_per_s > 0, so that there is no load",
        ),
        ({"component": [{**ONE, "least": 3, "most": 2}]}, "component[0].most: must be >= least (3), got 2"),
        ({"component": [{**ONE, "slo_ms": -1}]}, "component[0].slo_ms: must be > 0.0, got -1"),
        ({"offer": {"small": {**OFFER, "cpu": "4"}}}, "offer.small.cpu: must be a number, got '4'"),
        ({"disturbance": {"per_minute": 2}}, "disturbance.per_minute: must be <= 1.0, got 2"),
        ({"bill_from": "never"}, "bill_from: must be 'ready' or 'request', got 'never'"),
    ],
)
def test_refused(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError) as refused:
        Scenario.model_validate(content(**changed))
    assert phrases(refused.value) == [message]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"a = ", "is not TOML"),
        (b"\xff", "is not UTF-8 text (byte 0)"),
        (b"step_s = 0", "step_s: must be > 0.0, got 0; duration_min: missing; component: missing"),
        (None, "cannot be read (No such file or directory)"),
    ],
)
def test_files_that_are_none(tmp_path: Path, text: bytes | None, message: str) -> None:
    path = tmp_path / "scenario.toml"
    if text is not None:
        path.write_bytes(text)
    with pytest.raises(ScenarioError, match=f"^{re.escape(str(path))}: {re.escape(message)}"):
        read_scenario(path)
