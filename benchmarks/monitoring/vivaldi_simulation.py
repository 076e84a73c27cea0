"""Coordinates in simulation: 1,000 agents on a two-level Waxman network, 32 on Table 5 of the paper.

    python -m benchmarks.monitoring.vivaldi_simulation --out runs/vivaldi [--rounds 100] [--nodes 1000]

A round is one pass of every agent over its eight peers. Prints tables and writes error-by-rounds.png.
"""

from __future__ import annotations

import argparse
import itertools
import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from benchmarks.monitoring.simulated_agents import Simulation, table_5_ms
from experiments.machine import provenance
from scheduler.instances.generators.brite import two_level_waxman

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

    from numpy.typing import NDArray

NOISE = 0.05
PROBES_PER_ROUND = 8
SEEDS = 10
HOSTS = {"uniroma2": 3, "west1": 5, "west2": 5, "west3": 5, "west4": 5, "north1": 5, "us": 4}
COLD_S, AFTER_S = 90.0, 60.0
WANTED_MEDIAN = 0.12
"""Relative error of the large network that is to be reached."""


class MatrixDelays:
    """A matrix of delays in ms, shape (n_nodes, n_nodes), by the names of its nodes."""

    def __init__(self, names: list[str], delay_ms: NDArray[np.float64]) -> None:
        self._index = {name: number for number, name in enumerate(names)}
        self._delay_ms = delay_ms

    def __getitem__(self, pair: tuple[str, str]) -> float:
        return float(self._delay_ms[self._index[pair[0]], self._index[pair[1]]])

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return itertools.permutations(self._index, 2)


def noisy(rng: random.Random, delay_ms: float) -> float:
    """Disturb a delay by normal noise, symmetric, in proportion to it."""
    return delay_ms * max(0.0, rng.gauss(1.0, NOISE))


def errors(simulation: Simulation, names: list[str], true_ms: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return relative errors of all pairs, flat."""
    others = ~np.eye(len(names), dtype=bool)
    return np.abs(simulation.estimates_ms(names) - true_ms)[others] / true_ms[others]


def waxman(nodes: int, rounds: int, seed: int) -> list[dict[str, float]]:
    """Follow the error of a large network round by round."""
    systems = max(2, nodes // 50)
    network = two_level_waxman(systems, nodes // systems, np.random.default_rng(seed))
    names = [node.name for node in network.nodes]
    true_ms = np.asarray(network.delay_ms, dtype=float)
    simulation = Simulation(MatrixDelays(names, true_ms), seed, disturb=noisy)
    rows = []
    for done in [n for n in (1, 2, 5, 10, 15, 20, 30, 40, 50, 60, 80, 100) if n < rounds] + [rounds]:
        simulation.run_probes(done * PROBES_PER_ROUND)
        found = errors(simulation, names, true_ms)
        row = {"rounds": done, "seconds": simulation.now_s, "median": float(np.median(found))}
        row["p90"] = float(np.quantile(found, 0.9))
        print("| {rounds} | {seconds:.0f} | {median:.1%} | {p90:.1%} |".format(**row), flush=True)
        rows.append(row)
    return rows


def table_5() -> dict[str, list[float]]:
    """Return median and 90th percentile, each mean and worst over seeds, cold and after changes."""
    delays = table_5_ms(HOSTS)
    found: dict[str, list[list[float]]] = {"cold": [], "site": [], "link": []}
    for seed, change in itertools.product(range(SEEDS), ("site", "link")):
        simulation = Simulation(delays, seed, disturb=noisy).run(COLD_S)
        if change == "site":
            found["cold"].append(_quantiles(simulation))
        simulation.delay_ms = {
            pair: delay_ms * (1.5 if _changed(change, {name.rpartition("-")[0] for name in pair}) else 1.0)
            for pair, delay_ms in delays.items()
        }
        found[change].append(_quantiles(simulation.run(COLD_S + AFTER_S)))
    return {state: [*np.mean(rows, axis=0), *np.max(rows, axis=0)] for state, rows in found.items()}


def _changed(change: str, sites: set[str]) -> bool:
    """Say whether a change touches the link between these sites."""
    return len(sites) == 2 and ("us" in sites if change == "site" else sites == {"uniroma2", "us"})


def _quantiles(simulation: Simulation) -> list[float]:
    return [float(each) for each in np.quantile(simulation.relative_errors(), (0.5, 0.9))]


def plot(rows: list[dict[str, float]], path: Path) -> Figure:
    """Draw error against rounds; return what was drawn."""
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.add_subplot()
    rounds = [row["rounds"] for row in rows]
    axes.plot(rounds, [100 * row["median"] for row in rows], marker="o", label="median")
    axes.plot(rounds, [100 * row["p90"] for row in rows], marker=".", label="90th percentile")
    label = f"wanted: a median of at most {WANTED_MEDIAN:.0%}"
    axes.axhline(100 * WANTED_MEDIAN, color="grey", linestyle=":", label=label)
    axes.set_xlabel("rounds of eight probes per agent")
    axes.set_ylabel("relative error of delays (%)")
    axes.set_ylim(bottom=0)
    axes.set_title("Coordinates on a two-level Waxman network, 5 % noise")
    axes.legend()
    figure.savefig(path, dpi=120)
    return figure


def main() -> None:
    """Run both simulations."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("runs/vivaldi"))
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    print(provenance().line())
    found = table_5()
    print("| 32 agents on Table 5 | median, mean of seeds | p90 | median, worst seed | p90 |")
    print("|---|---:|---:|---:|---:|")
    states = {
        "cold": f"{COLD_S:.0f} s after a cold start",
        "site": f"{AFTER_S:.0f} s after all links of the site `us` grew by half",
        "link": f"{AFTER_S:.0f} s after its link to uniroma2 alone did, against the triangle inequality",
    }
    for state, words in states.items():
        print(f"| {words} | " + " | ".join(f"{value:.1%}" for value in found[state]) + " |", flush=True)
    print(f"\n| rounds | simulated s | median error, {options.nodes} agents | p90 |\n|---:|---:|---:|---:|")
    rows = waxman(options.nodes, options.rounds, options.seed)
    plot(rows, options.out / "error-by-rounds.png")
    content = {"provenance": provenance().line(), "table_5": found, "waxman": rows}
    (options.out / "vivaldi.json").write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
