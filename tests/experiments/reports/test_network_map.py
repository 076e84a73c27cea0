"""The map of a network: distances are kept as far as a plane can, and labels do not hide each other."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.reports.label_places import Box, place_labels
from experiments.reports.network_map import flattened

COORDINATE = st.floats(-200, 200)


def distances(points: np.ndarray) -> np.ndarray:
    return np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))


@given(st.lists(st.tuples(COORDINATE, COORDINATE), min_size=1, max_size=12), st.integers(0, 2**31))
@settings(max_examples=40, deadline=None)
def test_hosts_in_a_plane_keep_their_distances(points: list[tuple[float, float]], seed: int) -> None:
    """However that plane lies in five dimensions."""
    basis, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(5, 2)))
    flat, kept = flattened(np.array(points) @ basis.T)
    assert kept == pytest.approx(1.0)
    assert distances(flat) == pytest.approx(distances(np.array(points)), abs=1e-6)


def test_the_plane_of_most_spread_is_kept() -> None:
    """Of 10, 6 and 1 ms along three axes the last is lost."""
    flat, kept = flattened(
        np.array([[10.0, 0, 0], [-10, 0, 0], [0, 6, 0], [0, -6, 0], [0, 0, 1], [0, 0, -1]])
    )
    assert kept == pytest.approx((100 + 36) / (100 + 36 + 1))
    assert np.abs(flat).max(axis=0) == pytest.approx([10.0, 6.0])


def test_labels_of_neighbours_stand_beside_each_other_inside_the_frame() -> None:
    """Seven at one point, one of them in a corner; no label on another, none on the points."""
    anchors = [(200.0, 150.0)] * 6 + [(1.0, 1.0)]
    points = [Box(x, y, 6.0, 6.0) for x, y in anchors]
    frame = Box(200.0, 150.0, 400.0, 300.0)
    labels = place_labels(anchors, [(90.0, 14.0)] * 7, points, frame)
    assert all(
        one.overlap(other) == 0 for one, other in itertools.combinations([*labels, points[0], points[6]], 2)
    )
    assert all(abs(box.x - 200) <= 155 and abs(box.y - 150) <= 143 for box in labels)


def test_without_a_free_place_a_label_covers_as_little_as_it_can() -> None:
    """The frame is full but for a corner that holds half of the label."""
    frame = Box(50.0, 50.0, 100.0, 100.0)
    wall = Box(40.0, 50.0, 80.0, 100.0)
    (label,) = place_labels([(80.0, 50.0)], [(40.0, 10.0)], [wall], frame)
    assert label.x == 80.0
    assert label.overlap(wall) == 200.0
