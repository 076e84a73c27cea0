"""Scenarios for tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import experiments.elasticity
from experiments.elasticity.scenario import Scenario

SHIPPED = Path(experiments.elasticity.__file__).parent / "scenarios"
OFFER = {"cpu": 4, "memory_mb": 8, "billing_unit_s": 600, "boot_s": 40}
ONE = {"name": "a", "slo_ms": 1000, "cpu": 1, "memory_mb": 2, "service_ms": 500, "source_per_s": 1}
TWO = {"name": "b", "slo_ms": 1000, "cpu": 1, "memory_mb": 2, "service_ms": 500, "inputs": {"a": 0.5}}


def content(**changed: Any) -> dict[str, Any]:
    """Return what a small scenario file says, but for what is changed."""
    return {
        "step_s": 1,
        "duration_min": 10,
        "component": [ONE, TWO],
        "offer": {"small": OFFER},
        "load": {"even": {"kind": "series", "values": [1], "every_s": 60}},
        **changed,
    }


def scenario(**changed: Any) -> Scenario:
    """Return a small scenario."""
    return Scenario.model_validate(content(**changed))
