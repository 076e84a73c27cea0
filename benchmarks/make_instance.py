"""Write benchmarks/instances/sequential-100.json: the sequential application of paper 000 on 100 nodes.

Twenty operators in a row (3 ms each, 100 tuples/s between them), the first and the last pinned to one node.
Ten sites of ten nodes are scattered on a plane, nodes close to the centre of their site; delays are
distances, scaled to a mean of 17 ms between distinct nodes. Capacity and availability are those of the
paper's Table 1. Values are rounded, so that the file is small and reads well; a seed always writes the same
file.

    python benchmarks/make_instance.py
"""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

OUTPUT = Path(__file__).parent / "instances" / "sequential-100.json"
SEED = 3
OPERATORS = 20
SITES = 10
NODES_PER_SITE = 10
MEAN_DELAY_MS = 17.0
SPREAD = 0.05
"""Standard deviation of a node around the centre of its site; the plane has side 1."""


def sequential_application(home: str) -> dict[str, Any]:
    """Return the chain of operators, its ends pinned to the node `home`."""
    operators: list[dict[str, Any]] = [
        {"name": f"operator-{k + 1}", "execution_time_ms": 3.0, "demand": {"slots": 1}}
        for k in range(OPERATORS)
    ]
    operators[0]["allowed"] = operators[-1]["allowed"] = [home]
    streams = [
        {"from": a["name"], "to": b["name"], "rate": 100.0, "tuple_bytes": 100.0}
        for a, b in pairwise(operators)
    ]
    return {"operators": operators, "streams": streams}


def clustered_network(random: np.random.Generator) -> dict[str, Any]:
    """Return nodes in sites with coordinates in ms, heights 0."""
    centres = random.uniform(0.0, 1.0, (SITES, 2))
    points = np.repeat(centres, NODES_PER_SITE, axis=0)
    points = points + random.normal(0.0, SPREAD, points.shape)
    distance = np.linalg.norm(points[:, None] - points[None, :], axis=2)
    points *= MEAN_DELAY_MS / distance[np.triu_indices(len(points), 1)].mean()
    availability = random.uniform(0.97, 0.9999999, len(points))
    nodes = [
        {
            "name": f"site-{k // NODES_PER_SITE + 1}-node-{k % NODES_PER_SITE + 1}",
            "capacity": {"slots": 2},
            "speedup": 1.0,
            "availability": round(float(up), 7),
            "site": f"site-{k // NODES_PER_SITE + 1}",
        }
        for k, up in enumerate(availability)
    ]
    return {"nodes": nodes, "coordinates": [[round(float(x), 3), round(float(y), 3), 0.0] for x, y in points]}


def main() -> None:
    """Write the file, one operator, stream, node or coordinate per line."""
    random = np.random.default_rng(SEED)
    network = clustered_network(random)
    home = network["nodes"][int(random.integers(len(network["nodes"])))]["name"]
    instance = {
        "application": sequential_application(home),
        "network": network,
        "objective": {"weights": {"response_time": 1.0}},
    }
    OUTPUT.parent.mkdir(exist_ok=True)
    sections = []
    for key, value in instance.items():
        parts = []
        for name, entries in value.items():
            lines = entries if isinstance(entries, list) else [entries]
            text = ",\n      ".join(json.dumps(line) for line in lines)
            parts.append(
                f'"{name}": [\n      {text}\n    ]' if isinstance(entries, list) else f'"{name}": {text}'
            )
        sections.append(f'  "{key}": {{\n    ' + ",\n    ".join(parts) + "\n  }")
    OUTPUT.write_text("{\n" + ",\n".join(sections) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
