"""Vivaldi: a host finds its own coordinate from delays to a few others.

Source: F. Dabek, R. Cox, F. Kaashoek, R. Morris, "Vivaldi: a decentralized network coordinate system",
SIGCOMM 2004: the spring system with the adaptive timestep (figure 3) and the height vector (section 5.4).
Gravity is that of J. Ledlie, P. Gardner, M. Seltzer, "Network coordinates in the wild", NSDI 2007.
Delays are one way, in ms: half of a round trip. No clock and no network here; randomness is handed in.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from monitoring.coordinate import MAX_ERROR, MAX_EXTENT_MS, Coordinate, origin

if TYPE_CHECKING:
    from collections.abc import Iterable
    from random import Random


@dataclass(frozen=True, slots=True)
class VivaldiParameters:
    """How fast and how carefully a coordinate follows its samples.

    Attributes:
        dimensions: Dimensions of the position, 2 to 8, without the height.
        timestep: c_c of the paper: share of the spring's displacement that one sample may move the host.
            The paper found 0.25 good for raw samples; ours are filtered per peer, which permits 0.5.
        calm: Least share of that timestep. It shrinks in proportion to the host's own error, so that a host
            that has found its place stays there and one whose links changed sets out again.
        calm_error: Own relative error from which the whole timestep counts.
        error_weight: c_e of the paper: share of a sample in the moving error estimate.
        min_height_ms: Smallest height; above zero, so that a height can grow again (its update is a
            product with the height).
        resolution_ms: Delays below it count with the relative error that they would have at it: being
            0.2 ms off between neighbours must not ruin the error estimate of hosts 100 ms from the rest.
            Peers that near hold the host with the whole timestep and without shaking, or the misfits of far
            ones, small for themselves, would scatter neighbours over several times their distance.
        misfit: Relative error of a sample above which the host does not move straight along the spring.
        shake: Length of the random part that is then added to the unit direction. Hosts that lie on one
            line have no spring that points off it, and could never fold into a triangle.
        max_delay_ms: A longer one-way delay is not believed.
        max_step_ms: Farthest that a single sample moves the host, whatever its peer claims.
        gravity_ms: Distance from the origin at which a sample pulls the host 1 ms back; quadratic, weak
            at real distances, and enough against a drift of the whole system.
    """

    dimensions: int = 5
    timestep: float = 0.5
    calm: float = 0.05
    calm_error: float = 0.5
    error_weight: float = 0.25
    min_height_ms: float = 0.01
    resolution_ms: float = 2.0
    misfit: float = 0.3
    shake: float = 0.3
    max_delay_ms: float = 10_000.0
    max_step_ms: float = 200.0
    gravity_ms: float = 2_000.0


class Vivaldi:
    """The coordinate of this host.

    Args:
        parameters: See `VivaldiParameters`.
        rng: Source of directions for coincident points.
        start: Coordinate of these dimensions to go on from, such as the last one before a restart; the
            origin by default.
    """

    def __init__(self, parameters: VivaldiParameters, rng: Random, start: Coordinate | None = None) -> None:
        self._parameters = parameters
        self._rng = rng
        self._coordinate = start or origin(parameters.dimensions, parameters.min_height_ms)

    @property
    def coordinate(self) -> Coordinate:
        """Where this host is now."""
        return self._coordinate

    def observe(self, delay_ms: float, remote: Coordinate) -> bool:
        """Take one sample: move towards or away from a peer (figure 3 of the paper).

        Args:
            delay_ms: Measured one-way delay; zero (a coarse clock) counts as the smallest delay that
                two minimal heights can stand for.
            remote: Coordinate that the peer sent with its answer.

        Returns:
            Whether it was taken; nothing changes by one whose delay or coordinate cannot be.
        """
        parameters, here = self._parameters, self._coordinate
        if not 0 <= delay_ms <= parameters.max_delay_ms or remote.fault(parameters.dimensions):
            return False
        delay_ms = max(delay_ms, 2 * parameters.min_height_ms)
        estimate_ms = here.delay_ms(remote)
        total_error = here.error + remote.error
        weight = here.error / total_error if total_error > 0 else 0.5
        sample_error = abs(estimate_ms - delay_ms) / max(delay_ms, parameters.resolution_ms)
        gain = parameters.error_weight * weight
        error = min(MAX_ERROR, sample_error * gain + here.error * (1 - gain))
        near = delay_ms < parameters.resolution_ms
        timestep = parameters.timestep
        if not near:
            timestep *= min(1.0, max(parameters.calm, here.error / parameters.calm_error))
        step_ms = timestep * weight * (delay_ms - estimate_ms)
        step_ms = max(-parameters.max_step_ms, min(parameters.max_step_ms, step_ms))
        shake = parameters.shake if sample_error > parameters.misfit and not near else 0.0
        self._coordinate = self._pull_back(self._move(remote, step_ms, shake, error))
        return True

    def _move(self, remote: Coordinate, step_ms: float, shake: float, error: float) -> Coordinate:
        """Move by `step_ms` along the unit vector from the peer, height included (section 5.4)."""
        here, minimum_ms = self._coordinate, self._parameters.min_height_ms
        apart_ms = math.dist(here.position_ms, remote.position_ms)
        heights_ms = here.height_ms + remote.height_ms
        if apart_ms < minimum_ms:  # without a direction the host leaves the spot in any
            direction = self._random_direction()
            share = 1.0
        else:
            direction = tuple(
                (a - b) / apart_ms for a, b in zip(here.position_ms, remote.position_ms, strict=True)
            )
            if shake > 0:
                direction = _unit(
                    a + shake * b for a, b in zip(direction, self._random_direction(), strict=True)
                )
            share = apart_ms / (apart_ms + heights_ms)
        position_ms = tuple(
            max(-MAX_EXTENT_MS, min(MAX_EXTENT_MS, a + step_ms * share * u))
            for a, u in zip(here.position_ms, direction, strict=True)
        )
        rise_ms = step_ms * heights_ms / (apart_ms + heights_ms) if heights_ms > 0 else 0.0
        return Coordinate(position_ms, min(MAX_EXTENT_MS, max(minimum_ms, here.height_ms + rise_ms)), error)

    def _pull_back(self, coordinate: Coordinate) -> Coordinate:
        """Apply the weak pull towards the origin."""
        distance_ms = math.hypot(*coordinate.position_ms)
        if distance_ms == 0:
            return coordinate
        pull_ms = min(distance_ms, (distance_ms / self._parameters.gravity_ms) ** 2)
        kept = 1 - pull_ms / distance_ms
        position_ms = tuple(kept * a for a in coordinate.position_ms)
        return Coordinate(position_ms, coordinate.height_ms, coordinate.error)

    def _random_direction(self) -> tuple[float, ...]:
        """Draw a unit vector, uniform over directions."""
        return _unit(self._rng.gauss(0.0, 1.0) for _ in range(self._parameters.dimensions))


def _unit(vector: Iterable[float]) -> tuple[float, ...]:
    """Scale a vector to length one; the first axis stands in for a vector of length zero."""
    numbers = tuple(vector)
    length = math.hypot(*numbers)
    return tuple(a / length for a in numbers) if length > 0 else (1.0, *(0.0 for _ in numbers[1:]))
