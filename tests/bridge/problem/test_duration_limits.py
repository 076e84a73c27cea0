"""A limit on durations counts where all that it looks at is measured."""

from __future__ import annotations

import numpy as np
import pytest

from bridge.problem.duration_limits import duration_limits

COMPONENT = ("a", "b", "b", "c")


@pytest.mark.parametrize(
    ("timed", "rated", "most_ms", "note"),
    [
        ([True] * 4, True, [0.0, 5.0, 5.0, 7.0], ""),
        ([False, True, True, True], True, [0.0, 5.0, 5.0, 7.0], ""),
        ([True, True, False, False], True, [0.0, 5.0, 0.0, 0.0], "execution times are not measured"),
        ([True] * 4, False, [0.0] * 4, "rates are neither measured nor declared"),
    ],
)
def test_executors_without_a_measurement_have_no_limit(timed, rated, most_ms, note):
    """And are named by their component."""
    limits = duration_limits({"b": 5.0, "c": 7.0}, COMPONENT, np.array(timed), rated=rated)
    assert limits.most_ms.tolist() == most_ms
    assert limits.note == (note and f"duration.max.ms of b, c is stated but {note}")
