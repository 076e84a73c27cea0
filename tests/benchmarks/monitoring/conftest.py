"""What the tests of monitoring's benchmarks share."""

from __future__ import annotations

import pytest


class Clock:
    """A clock that stands unless it is moved."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock() -> Clock:
    return Clock()
