"""Submits the sleeping topology; a program that runs on the lab's Nimbus host."""

from __future__ import annotations

import argparse
from pathlib import Path

from experiments.lab_elasticity.sizes import executors_for
from experiments.lab_elasticity.workloads.sleeping import Sleeping
from formats.address import Address
from topologies.sleeping.configuration import SleepingRun
from topologies.sleeping.sleeping_submission import Sleeper, SleepingSubmission
from topologies.submission import submit

PENDING = 240
"""Items under way at the most, some times as many as executors have at the peak: what a restarted worker had
taken counts as under way until its timeout. What is more waits in Redis, where it outlives every worker."""
TIMEOUT_S = 10
"""After so long without an acknowledgement, or twice that, an item comes again."""


def main() -> None:
    """Submit it as the arguments say."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("nimbus", "redis", "graphite", "run", "name"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--rate", required=True, type=float, help="items/s for which there are executors")
    parser.add_argument("--workers", required=True, type=int)
    parser.add_argument("--storm", required=True, type=Path, help="Storm's own folder")
    asked = parser.parse_args()
    scaled = Sleeping.scaled
    submission = SleepingSubmission(
        name=asked.name,
        run=SleepingRun(asked.run),
        redis=Address.parse(asked.redis),
        workers=asked.workers,
        sleepers=tuple(
            Sleeper(each.name, each.service_ms, executors_for(asked.rate, each)) for each in scaled
        ),
        tasks=scaled[0].tasks,
        graphite=Address.parse(asked.graphite),
        storm_home=asked.storm,
        conf={
            "topology.max.spout.pending": PENDING,
            "topology.message.timeout.secs": TIMEOUT_S,
            # what sleeps asks for next to nothing
            "topology.component.cpu.pcore.percent": 5.0,
            # else items go to executors of the same worker until its queues are nearly full, and others idle
            "topology.disable.loadaware.messaging": True,
            # leaves processors to workers that start: until they have, all executors look for items
            "topology.bolt.wait.park.microsec": 10_000,
        },
    )
    submit(Address.parse(asked.nimbus), submission)


if __name__ == "__main__":
    main()
