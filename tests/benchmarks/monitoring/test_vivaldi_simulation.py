"""Rules of the simulation of coordinates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.monitoring.simulated_agents import Simulation, table_5_ms
from benchmarks.monitoring.vivaldi_simulation import MatrixDelays, errors, noisy, plot, waxman

if TYPE_CHECKING:
    from pathlib import Path

DELAYS = table_5_ms({"west1": 2, "us": 2})


def test_the_error_is_the_same_pair_by_pair_and_by_matrix() -> None:
    names = sorted({a for a, _ in DELAYS})
    true_ms = np.array([[DELAYS[a, b] if a != b else 0.0 for b in names] for a in names])
    by_pairs = Simulation(DELAYS, 1, disturb=noisy).run(10.0)
    by_matrix = Simulation(MatrixDelays(names, true_ms), 1, disturb=noisy).run(10.0)
    assert np.allclose(sorted(errors(by_matrix, names, true_ms)), sorted(by_pairs.relative_errors()))


def test_rounds_come_in_order_and_the_error_falls_in_each() -> None:
    """From above a third to below a tenth."""
    rows = waxman(100, 10, seed=0)
    assert [row["rounds"] for row in rows] == [1, 2, 5, 10]
    for name in ("median", "p90"):
        falling = [row[name] for row in rows]
        assert falling == sorted(set(falling), reverse=True)
    assert rows[0]["median"] > 1 / 3
    assert rows[-1]["median"] < 1 / 10
    assert all(row["median"] <= row["p90"] for row in rows)


def test_the_picture_says_what_its_line_is(tmp_path: Path) -> None:
    drawn = plot([{"rounds": 1, "median": 0.2, "p90": 0.6}], tmp_path / "error.png")
    legend = drawn.axes[0].get_legend()
    assert legend is not None
    assert legend.get_texts()[-1].get_text() == "wanted: a median of at most 12%"
