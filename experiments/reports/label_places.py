"""Places for labels on a map: near what they name, over nothing else."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_DIRECTIONS = 16
_RINGS = 12


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle by its centre and size."""

    x: float
    y: float
    width: float
    height: float

    def overlap(self, other: Box) -> float:
        """Return the area that both cover."""
        wide = (self.width + other.width) / 2 - abs(self.x - other.x)
        high = (self.height + other.height) / 2 - abs(self.y - other.y)
        return max(wide, 0.0) * max(high, 0.0)


def place_labels(
    anchors: Sequence[tuple[float, float]],
    sizes: Sequence[tuple[float, float]],
    obstacles: Sequence[Box],
    frame: Box,
) -> list[Box]:
    """Choose a place for each label, in order: the nearest free one, else the one that covers least.

    Args:
        anchors: What the labels name.
        sizes: Width and height of the labels.
        obstacles: What labels should not cover.
        frame: Where labels have to be; they are smaller than it.

    Returns:
        One box per label; boxes of labels overlap only where there is no other place.
    """
    taken = list(obstacles)
    placed = []
    for (x, y), (width, height) in zip(anchors, sizes, strict=True):
        best = Box(x, y, width, height)
        least = math.inf
        for box in _candidates(x, y, width, height):
            inside = _moved_inside(box, frame)
            covered = sum(inside.overlap(other) for other in taken)
            if covered < least:
                best, least = inside, covered
            if not covered:
                break
        taken.append(best)
        placed.append(best)
    return placed


def _candidates(x: float, y: float, width: float, height: float) -> list[Box]:
    """Return boxes on ever wider ellipses around a point, the nearest first."""
    step = 0.8 * height
    return [
        Box(
            x + (width / 2 + ring * step) * math.cos(angle),
            y + (height / 2 + ring * step) * math.sin(angle),
            width,
            height,
        )
        for ring in range(1, _RINGS + 1)
        for angle in (2 * math.pi * turn / _DIRECTIONS for turn in range(_DIRECTIONS))
    ]


def _moved_inside(box: Box, frame: Box) -> Box:
    wide, high = (frame.width - box.width) / 2, (frame.height - box.height) / 2
    x = min(max(box.x, frame.x - wide), frame.x + wide)
    y = min(max(box.y, frame.y - high), frame.y + high)
    return Box(x, y, box.width, box.height)
