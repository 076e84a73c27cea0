"""How the time grows with the size of clusters: the exponent of each scheduler, and a plot.

    python -m benchmarks.large_clusters --cluster growth --repeats 3 --rounds 20 --limit-s 120 \\
        --no-losses --no-bound --json FILE
    python -m benchmarks.large_clusters.growth FILE [--plot PICTURE]

The time of a cluster is that of all rounds until everything is placed, in the calling thread; it is taken as
a fixed part and a power of the number of executors (so is the processor time of the daemon in and between
these rounds):

    seconds = fixed + factor * executors ** exponent

fitted by least squares of logarithms; an exponent of 1 is linear. The exponent without a fixed part, the
slope of the line through the logarithms, stands beside it. A run that did not place everything, or not in
time, is left out and named.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np

from benchmarks.placement.markdown import markdown, seconds

mpl.use("Agg")
from matplotlib import pyplot as plt  # after the choice of a backend without a display

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

Points = list[tuple[int, float]]

_LEAST_SIZES = 4
"""With fewer sizes a fixed part and a smaller exponent look the same."""
_STEPS = 200
_MARKERS = "osv^D"


@dataclass(frozen=True)
class Growth:
    """A fitted law of growth.

    Attributes:
        fixed_s: what every size costs, s; 0 where there are too few sizes to know.
        factor_s: What one executor costs, s.
        exponent: By which it grows with the number of executors; nan for fewer than two sizes.
        slope: The exponent if there were no fixed part.
    """

    fixed_s: float
    factor_s: float
    exponent: float
    slope: float

    def at(self, executors: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the seconds that it gives for these numbers of executors."""
        return np.asarray(self.fixed_s + self.factor_s * executors**self.exponent, dtype=np.float64)


def main() -> None:
    """Print times and exponents, and draw if asked to."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("report", type=Path, help="what --json of the benchmark wrote")
    parser.add_argument("--plot", type=Path, help="picture to write")
    arguments = parser.parse_args()
    report = json.loads(arguments.report.read_text(encoding="utf-8"))
    points = placing_times(report["clusters"])
    sys.stdout.write(f"{report['provenance']}; JVM {report['jvm_flags']}\n\n{_table(points)}\n")
    for line in left_out(report["clusters"]):
        sys.stdout.write(f"{line}\n")
    if arguments.plot is not None:
        _draw(points, report["provenance"], arguments.plot)


def placing_times(clusters: Sequence[Mapping[str, Any]]) -> dict[str, Points]:
    """Return executors and seconds of each run that placed everything, by scheduler.

    What the daemon's processor did meanwhile, also between rounds, is a series of its own.
    """
    points: dict[str, Points] = defaultdict(list)
    for cluster in clusters:
        for run in cluster["runs"]:
            if "overdue_s" in run or run["placed"] < run["executors"]:
                continue
            points[run["scheduler"]].append((run["executors"], sum(run["seconds"])))
            if run["daemon_processor_s"]:
                points["processor of the daemon"].append((run["executors"], run["daemon_processor_s"]))
    return dict(points)


def left_out(clusters: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Return a line for each run that is in no exponent."""
    for cluster in clusters:
        for run in cluster["runs"]:
            name, executors = run["scheduler"], f"{cluster['executors']:,}"
            if "overdue_s" in run:
                yield f"{name} with {executors} executors: a round takes longer than {run['overdue_s']:g} s"
            elif run["placed"] < run["executors"]:
                unplaced, rounds = run["executors"] - run["placed"], len(run["seconds"])
                yield f"{name} with {executors} executors: {unplaced:,} unplaced after {rounds} rounds"


def fit(points: Points) -> Growth:
    """Fit a fixed part and a power.

    For each fixed part the power is the line through the logarithms of what is above it; the fixed part is
    the one whose law is nearest to the logarithms of the seconds.
    """
    if len({size for size, _ in points}) < 2:
        return Growth(0.0, math.nan, math.nan, math.nan)
    sizes, times = np.array(points, dtype=np.float64).T
    slope, height = (float(each) for each in np.polyfit(np.log(sizes), np.log(times), 1))
    plain = Growth(0.0, math.exp(height), slope, slope)
    if len({size for size, _ in points}) < _LEAST_SIZES:
        return plain

    def distance(law: Growth) -> float:
        return float(np.sum((np.log(law.at(sizes)) - np.log(times)) ** 2))

    best = plain
    for fixed in np.linspace(0.0, float(times.min()), _STEPS, endpoint=False)[1:].tolist():
        exponent, height = (float(each) for each in np.polyfit(np.log(sizes), np.log(times - fixed), 1))
        law = Growth(fixed, math.exp(height), exponent, slope)
        if distance(law) < distance(best):
            best = law
    return best


def _table(points: Mapping[str, Points]) -> str:
    """Return the medians by size, and below them what the growth is."""
    sizes = sorted({size for own in points.values() for size, _ in own})
    laws = {name: fit(own) for name, own in points.items()}
    rows = [[f"{size:,}", *(_median(own, size) for own in points.values())] for size in sizes]
    rows.append(["fixed part", *(seconds(law.fixed_s) for law in laws.values())])
    rows.append(["exponent of the rest", *(f"{law.exponent:.2f}" for law in laws.values())])
    rows.append(["exponent without a fixed part", *(f"{law.slope:.2f}" for law in laws.values())])
    return markdown(["executors", *points], rows)


def _median(points: Points, size: int) -> str:
    own = [time for each, time in points if each == size]
    return seconds(float(np.median(own))) if own else "-"


def _draw(points: Mapping[str, Points], origin: str, file: Path) -> None:
    figure, axes = plt.subplots(figsize=(7.5, 5.0))
    for marker, (name, own) in zip(_MARKERS, points.items(), strict=False):
        law = fit(own)
        (drawn,) = axes.plot(*zip(*own, strict=True), marker, ms=4, label=f"{name}: {_law(law)}")
        if not math.isnan(law.exponent):
            sizes = np.geomspace(min(own)[0], max(own)[0])
            axes.plot(sizes, law.at(sizes), lw=1, color=drawn.get_color())
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("executors")
    axes.set_ylabel("seconds until all are placed")
    axes.set_title(origin, fontsize=7)
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    figure.tight_layout()
    figure.savefig(file, dpi=110)
    plt.close(figure)


def _law(law: Growth) -> str:
    return f"{seconds(law.fixed_s)} + {law.factor_s:.2g} s * executors^{law.exponent:.2f}"


if __name__ == "__main__":
    main()
