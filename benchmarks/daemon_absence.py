"""The daemon stays away for five minutes while the taxi query runs: what restarts, and what Nimbus logs.

    python -m benchmarks.daemon_absence [--seconds N]

Brings the demo's lab up, places the query, stops the daemon, waits, starts it again, prints a JSON object.
"""

from __future__ import annotations

import argparse
import json
import time
from typing import TYPE_CHECKING

from benchmarks.lab_commands import NIMBUS, REDIS, STORMPLACE, begin, run, running_lab
from experiments.machine import PROJECT, provenance

if TYPE_CHECKING:
    from lab.cluster import LabClient

NAME = "taxi"
COMPONENTS = 8
PATIENCE_S = 180.0
SETTLE_S = 10.0


def main() -> None:
    """Run the check."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=300.0)
    seconds = parser.parse_args().seconds
    with running_lab(PROJECT / "lab" / "sites" / "demo.toml", "stormplace") as lab:
        figures = _absence(lab, seconds)
    print(json.dumps({"provenance": provenance().line(), **figures}, indent=2))


def _absence(lab: LabClient, seconds: float) -> dict[str, object]:
    run(lab, *STORMPLACE, "taxi", "submit", NIMBUS, REDIS, "--run=absence", f"--name={NAME}")
    _await_workers(lab)
    before, log_before = _workers(lab), _warnings(lab)
    lab.stop_daemon()
    time.sleep(seconds)
    during, log_during = _workers(lab), _warnings(lab)
    lab.start_daemon()
    time.sleep(SETTLE_S)  # three rounds
    after, log_after = _workers(lab), _warnings(lab)
    return {
        "seconds_without_daemon": seconds,
        "worker_processes": len(before),
        "worker_processes_unchanged_while_away": during == before,
        "worker_processes_unchanged_after_return": after == before,
        "warnings_while_away": log_during[len(log_before) :],
        "warnings_after_return": log_after[len(log_during) :],
    }


def _await_workers(lab: LabClient) -> None:
    """Wait until every executor has a slot, every slot a process, and processes no longer change."""
    end_s = time.monotonic() + PATIENCE_S
    while time.monotonic() < end_s:
        answer = json.loads(run(lab, *STORMPLACE, "taxi", "placement", NIMBUS, f"--name={NAME}"))
        slots = {(one["host"], one["port"]) for one in answer["executors"] if one["port"]}
        if len(answer["executors"]) == COMPONENTS and len(_workers(lab)) == 2 * len(slots) > 0:
            time.sleep(SETTLE_S)
            return
        time.sleep(1.0)
    raise SystemExit("the query did not start")


def _workers(lab: LabClient) -> list[str]:
    """Process ids of all worker JVMs and their log writers (two per slot), in the lab's numbering."""
    # pgrep ends with status 1 when it finds none
    pgrep = begin(lab, "pgrep", "-f", r"org\.apache\.storm\.daemon\.worker\.Worker taxi")
    return sorted(str(pgrep.communicate(timeout=PATIENCE_S)[0]).split())


def _warnings(lab: LabClient) -> list[str]:
    """Warnings of the shim in Nimbus' log so far."""
    log = lab.folder.logs / "nimbus.log"
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    return [line for line in lines if "[WARN]" in line and " i.s." in line]


if __name__ == "__main__":
    main()
