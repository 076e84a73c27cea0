"""Coordinates in simulation: a thousand agents in sites that all start at once.

    python -m benchmarks.monitoring.cold_start [--hosts 1000] [--sites 20] [--seed 0]

Sites lie at random in a square of 100 ms with access links of 0.5 to 8 ms; two hosts of one site are 0.25 ms
apart. Measured delays have 5 % normal noise. Prints one row per moment.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.monitoring.simulated_agents import Simulation
from benchmarks.monitoring.vivaldi_simulation import MatrixDelays, noisy
from bridge.settings import ReadingsSettings
from experiments.machine import provenance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

MOMENTS_S = (15.0, 30.0, 60.0, 90.0, 180.0)
MAX_ERROR = ReadingsSettings().max_error
_LOCAL_MS = 0.25


def network(hosts: int, sites: int, seed: int) -> tuple[list[str], NDArray[np.int64], NDArray[np.float64]]:
    """Return names, (n_hosts,) site of each host and (n_hosts, n_hosts) delays in ms."""
    rng = np.random.default_rng(seed)
    point, access_ms = rng.uniform(0.0, 100.0, (sites, 2)), rng.uniform(0.5, 8.0, sites)
    between_ms = np.linalg.norm(point[:, None] - point[None], axis=2) + access_ms[:, None] + access_ms
    np.fill_diagonal(between_ms, _LOCAL_MS)
    site = np.arange(hosts) % sites
    names = [f"host-{number:05d}" for number in range(hosts)]
    delay_ms = between_ms[np.ix_(site, site)]
    np.fill_diagonal(delay_ms, 0.0)
    return names, site, delay_ms


def cold_start(hosts: int, sites: int, seed: int, moments_s: Sequence[float]) -> list[dict[str, float]]:
    """Start all hosts at once and look at their coordinates at some moments.

    Returns:
        Per moment `believed`, the share of hosts whose error estimate the planner accepts by default; `own`,
        the median estimate; errors in ms within sites, and relative ones across.
    """
    names, site, true_ms = network(hosts, sites, seed)
    simulation = Simulation(MatrixDelays(names, true_ms), seed, disturb=noisy)
    one, other = np.triu_indices(hosts, 1)
    same, true_ms = site[one] == site[other], true_ms[one, other]
    rows = []
    for moment_s in moments_s:
        simulation.run(moment_s)
        own = np.array([simulation.hosts[name].vivaldi.coordinate.error for name in names])
        off_ms = np.abs(simulation.estimates_ms(names)[one, other] - true_ms)
        within, across = off_ms[same], off_ms[~same] / true_ms[~same]
        rows.append(
            {
                "seconds": moment_s,
                "believed": float(np.mean(own <= MAX_ERROR)),
                "own": float(np.median(own)),
                "within": float(np.median(within)),
                "within_p90": float(np.quantile(within, 0.9)),
                "across": float(np.median(across)),
                "across_p90": float(np.quantile(across, 0.9)),
            }
        )
    return rows


def main() -> None:
    """Run the simulation."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hosts", type=int, default=1000)
    parser.add_argument("--sites", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print(provenance().line())
    print(f"| s | error estimate at most {MAX_ERROR:g} | its median | within sites | across |")
    print("| ---: | ---: | ---: | ---: | ---: |")
    row_form = (
        "| {seconds:.0f} | {believed:.0%} | {own:.2f} | {within:.2f} ms, p90 {within_p90:.2f} ms "
        "| {across:.1%}, p90 {across_p90:.1%} |"
    )
    for row in cold_start(options.hosts, options.sites, options.seed, MOMENTS_S):
        print(row_form.format(**row))


if __name__ == "__main__":
    main()
