"""Predicted and measured response times of paper 000's applications on a lab of the demo's three sites.

    python -m benchmarks.synthetic_prediction [--tuples N] [--warm-up S] [--scheduler NAME]

Each application runs alone on a lab of this benchmark's own, placed by the scheduler (default Stormplace),
some operators being pinned to sites. Then the decision core is asked what that very placement should take,
with the delays of the site file.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from benchmarks.lab_commands import NIMBUS, REDIS, STORMPLACE, run, running_lab
from experiments.machine import PROJECT, provenance

if TYPE_CHECKING:
    from lab.cluster import LabClient
    from lab.storm_config import SchedulerName

_SITES = PROJECT / "lab" / "sites" / "demo.toml"


@dataclass(frozen=True)
class Case:
    """One application: kind, size, tuples/s per stream, work, and pins by number of operator."""

    application: str
    operators: int
    rate: float
    work_ms: float
    pins: tuple[tuple[int, str], ...]


CASES = (
    Case("sequential", 8, 20.0, 3.0, ((1, "uniroma2"), (4, "europe-west1"), (8, "us-east1"))),
    Case("diamond", 6, 15.0, 3.0, ((1, "uniroma2"), (3, "europe-west1"), (6, "uniroma2"))),
    Case("replicated", 8, 10.0, 3.0, ((1, "uniroma2"), (6, "europe-west1"), (8, "us-east1"))),
)


def main() -> None:
    """Run the benchmark and print one JSON object; times in ms."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tuples", type=int, default=1_200)
    parser.add_argument("--warm-up", type=float, default=30.0)
    parser.add_argument("--scheduler", default="stormplace", choices=["stormplace", "even", "default"])
    arguments = parser.parse_args()
    with running_lab(_SITES, cast("SchedulerName", arguments.scheduler)) as lab:
        figures = [_run(lab, case, arguments.tuples, arguments.warm_up) for case in CASES]
    print(json.dumps({"provenance": provenance().line(), "applications": figures}, indent=2))


def _run(lab: LabClient, case: Case, tuples: int, warm_up_s: float) -> dict[str, Any]:
    name = f"--name={case.application}"
    redis = (REDIS, f"--run={case.application}")
    out = lab.folder.root.parent / case.application
    run(
        lab,
        *(*STORMPLACE, "synthetic", "submit", NIMBUS, name, *redis, f"--application={case.application}"),
        *(f"--operators={case.operators}", f"--rate={case.rate}", f"--work-ms={case.work_ms}"),
        *("--tuple-bytes=500", f"--tuples={tuples}", f"--warm-up={warm_up_s}"),
        *(f"--pin=operator-{number}=site:{site}" for number, site in case.pins),
    )
    run(lab, *STORMPLACE, "synthetic", "collect", *redis, f"--out={out}", f"--timeout={warm_up_s + 120.0}")
    answer = run(
        lab, *STORMPLACE, "synthetic", "check", str(out), NIMBUS, name, f"--sites={_SITES}", "--json"
    )
    run(lab, *STORMPLACE, "taxi", "kill", NIMBUS, name)
    comparison = json.loads(answer)
    paths = [path["measured_p50_ms"] - path["predicted_ms"] for path in comparison["paths"]]
    rates = [each["measured_rate"] / each["asked_rate"] - 1.0 for each in comparison["streams"]]
    return {
        "application": case.application,
        "operators": case.operators,
        "rate": case.rate,
        "hosts": len(set(comparison["hosts"].values())),
        **{
            key: comparison[key]
            for key in ("predicted_ms", "measured_p50_ms", "measured_p95_ms", "deviation_ms", "deviation")
        },
        "same_path": comparison["measured_path"] == comparison["predicted_path"],
        "paths": len(paths),
        "largest_deviation_of_a_path_ms": max(paths, key=abs),
        "largest_deviation_of_a_rate": max(rates, key=abs),
    }


if __name__ == "__main__":
    main()
