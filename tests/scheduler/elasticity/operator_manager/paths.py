"""Paths for tests."""

from __future__ import annotations

from scheduler.elasticity.operator_manager.path import Path, PathPart

CHAIN = Path(
    (
        PathPart("parse", 1.0, 250.0, 12),
        PathPart("cell", 0.98, 400.0, 12),
        PathPart("count", 0.98, 150.0, 12),
        PathPart("rank", 0.245, 100.0, 12),
    ),
    100.0,
)
"""The application of paper 004's evaluation, as our scenario has it."""


def one(executors_max: int = 6, executors_min: int = 1, bound_ms: float = 40.0) -> Path:
    """Return a path of one component, c0, whose executors process 100 tuples per second."""
    return Path((PathPart("c0", 1.0, 100.0, executors_max, executors_min),), bound_ms)
