"""Accuracy of coordinates on the real lab of Table 5: after a cold start, and after a link has changed.

    python -m benchmarks.monitoring.coordinates_in_lab [--sites FILE] [--age 90] [--within 60] [--plot PNG]

Brings a lab of its own up (32 supervisors, no topology runs), waits until the youngest agent has the age
asked for, and compares the delay by coordinates with the site file's for all pairs of hosts. Then all links
of one site grow by half, and later one link alone triples, against the triangle inequality; errors are
followed after each. About five minutes.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.lab_commands import STORMPLACE, run, running_lab
from experiments.machine import PROJECT, provenance
from lab.sites import read_site_file, site_index

if TYPE_CHECKING:
    from formats.site_file import SiteFile
    from lab.cluster import LabClient

LEAST_MS = 1.0
"""Delays below count as this much: an error relative to nearly nothing has no meaning."""

LOOK_EVERY_S = 10.0
REST_S = 60.0
"""Between two changes, after the first was taken back."""

FAR_SITE = "us-east1"
LINK = ("uniroma2", "europe-west3")


def main() -> None:
    """Run the benchmark and print one JSON object; errors are relative."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sites", type=Path, default=PROJECT / "lab" / "sites" / "table5.toml")
    parser.add_argument("--age", type=float, default=90.0, help="seconds since the youngest agent's start")
    parser.add_argument("--within", type=float, default=60.0, help="seconds to follow a changed link")
    parser.add_argument("--plot", type=Path, help="PNG of the map, at the time of the first figures")
    options = parser.parse_args()
    sites = read_site_file(options.sites)
    true_ms = np.array(sites.delays_ms())
    with running_lab(options.sites, "even") as lab:
        time.sleep(max(0.0, options.age - _youngest_agent_s(lab)))
        age_s = _youngest_agent_s(lab)
        cold = _figures(_look(lab, options.plot), sites, true_ms)
        far = [(FAR_SITE, site.name) for site in sites.site if site.name != FAR_SITE]
        grown = _change(lab, sites, dict.fromkeys(far, 1.5), options.within)
        time.sleep(REST_S)
        tripled = _change(lab, sites, {LINK: 3.0}, options.within)
    figures = {
        "provenance": provenance().line(),
        "cold_start": {"age_s": age_s, **cold},
        f"all links of {FAR_SITE} times 1.5": grown,
        f"{LINK[0]} - {LINK[1]} times 3": tripled,
    }
    print(json.dumps(figures, indent=2))


def _youngest_agent_s(lab: LabClient) -> float:
    """Return the seconds since the last agent's start."""
    lines = run(lab, "ps", "-eo", "etimes=,args=").splitlines()
    return min(float(line.split(maxsplit=1)[0]) for line in lines if "cli.main agent" in line)


def _look(lab: LabClient, plot: Path | None = None) -> dict[str, Any]:
    """Return what `stormplace network` sees at this moment."""
    map_file = () if plot is None else ("--plot", str(plot.absolute()))
    found: dict[str, Any] = json.loads(
        run(lab, *STORMPLACE, "network", "--zookeeper", "nimbus:2181", "--json", *map_file)
    )
    return found


def _change(
    lab: LabClient, sites: SiteFile, factors: dict[tuple[str, str], float], within_s: float
) -> list[dict[str, Any]]:
    """Multiply delays, return figures from then on in steps, put the delays back."""
    former_ms = np.array(sites.delays_ms())
    true_ms = former_ms.copy()
    for (one, other), factor in factors.items():
        a, b = site_index(sites, one), site_index(sites, other)
        true_ms[a, b] = true_ms[b, a] = factor * former_ms[a, b]
        lab.set_delay(one, other, float(true_ms[a, b]))
    begun_s = time.monotonic()
    found = []
    for step in range(1, math.ceil(within_s / LOOK_EVERY_S) + 1):
        time.sleep(max(0.0, begun_s + step * LOOK_EVERY_S - time.monotonic()))
        figures = _figures(_look(lab), sites, true_ms)
        found.append({"after_s": round(time.monotonic() - begun_s, 1), **figures})
    for one, other in factors:
        lab.set_delay(one, other, float(former_ms[site_index(sites, one), site_index(sites, other)]))
    return found


def _figures(look: dict[str, Any], sites: SiteFile, true_ms: np.ndarray) -> dict[str, Any]:
    """Compare coordinates, and what the planner would take, with the truth."""
    hosts = [host for host in look["hosts"] if host["coordinate"] is not None]
    errors: dict[str, list[float]] = {"all": [], "between_sites": [], "link": []}
    for one, other in combinations(hosts, 2):
        pair = (one["site"], other["site"])
        true = float(true_ms[site_index(sites, pair[0]), site_index(sites, pair[1])])
        distance_ms = math.dist(one["coordinate"], other["coordinate"]) + one["height"] + other["height"]
        error = abs(distance_ms - true) / max(true, LEAST_MS)
        errors["all"].append(error)
        if pair[0] != pair[1]:
            errors["between_sites"].append(error)
        if set(pair) == set(LINK):
            errors["link"].append(error)
    used = next((cell for cell in look["sites"] if set(cell["between"]) == set(LINK)), None)
    return {
        "hosts_with_coordinate": len(hosts),
        **{f"{name}_median": round(float(np.median(found)), 4) for name, found in errors.items() if found},
        **{
            f"{name}_p90": round(float(np.quantile(found, 0.9)), 4) for name, found in errors.items() if found
        },
        "planner_sees_link": used and [used["delay_ms"], used["source"]],
    }


if __name__ == "__main__":
    main()
