"""How time grows with size: the exponent of each scheduler, and a plot.

    python -m benchmarks.large_clusters --cluster made:hosts=50,topologies=2,executors=500 \\
        made:hosts=500,topologies=20,executors=500 made:hosts=5000,topologies=200,executors=500 --json FILE
    python -m benchmarks.large_clusters.growth FILE [--plot PICTURE]

The exponent is the slope of a line through the logarithms of executors and of seconds until everything was
placed: 1 is linear. A cluster in which a scheduler did not place everything is left out for it, and named.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np

mpl.use("Agg")
from matplotlib import pyplot as plt  # after the choice of a backend without a display

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Points = list[tuple[int, float]]


def main() -> None:
    """Print the exponents, and draw if asked to."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("report", type=Path, help="what --json of the benchmark wrote")
    parser.add_argument("--plot", type=Path, help="picture to write")
    arguments = parser.parse_args()
    report = json.loads(arguments.report.read_text(encoding="utf-8"))
    points = placing_times(report["clusters"])
    for name, own in points.items():
        sys.stdout.write(f"{name}: exponent {exponent(own):.2f} over {len(own)} runs\n")
    for cluster in report["clusters"]:
        for run in cluster["runs"]:
            if run["placed"] < run["executors"]:
                sys.stdout.write(f"{run['scheduler']} left executors of {cluster['name']} unplaced\n")
    if arguments.plot is not None:
        _draw(points, report["provenance"], arguments.plot)


def placing_times(clusters: Sequence[Mapping[str, Any]]) -> dict[str, Points]:
    """Return executors and seconds of each run that placed everything, by scheduler."""
    points: dict[str, Points] = defaultdict(list)
    for cluster in clusters:
        for run in cluster["runs"]:
            if run["placed"] == run["executors"]:
                points[run["scheduler"]].append((run["executors"], sum(run["seconds"])))
    return dict(points)


def exponent(points: Points) -> float:
    """Return the exponent of growth; nan for fewer than two sizes."""
    if len({size for size, _ in points}) < 2:
        return math.nan
    sizes, seconds = np.log(np.array(points)).T
    return float(np.polyfit(sizes, seconds, 1)[0])


def _draw(points: Mapping[str, Points], origin: str, file: Path) -> None:
    figure, axes = plt.subplots(figsize=(7.5, 5.0))
    for name, own in points.items():
        axes.plot(*zip(*sorted(own), strict=True), "o-", label=f"{name}, exponent {exponent(own):.2f}")
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


if __name__ == "__main__":
    main()
