"""For how long a rebalance makes items stand still, with workers on fresh ports and in place of the old ones.

    python -m benchmarks.rebalance_pauses [--blocks 4] [--rebalances 4]

A lab of `lab/sites/elasticity.toml` runs two bolts that sleep, and items come at an even rate. The daemon is
started with and without `fresh_ports` in turn; with each setting the number of executors goes up and down by
turns. A pause is the longest time without a result within 45 s of a rebalance.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import threading
import time
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, cast

from redis import Redis

from benchmarks.lab_commands import run, running_lab
from experiments.lab_elasticity.workloads.feed_items import await_open, send
from experiments.lab_elasticity.workloads.sleeping import Sleeping
from experiments.lab_elasticity.workloads.workload import Start
from experiments.lab_steps import NIMBUS, REDIS
from experiments.machine import provenance
from formats.address import Address
from formats.site_file import read_site_file
from lab.storm_config import daemon_toml
from provisioning.cluster.nimbus import NimbusCluster
from topologies.sleeping.configuration import SleepingRun, item_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lab.cluster import LabClient

RATE = 10.0
"""Items/s."""
RUN = SleepingRun("pauses")
SIZES = ({"parse": 4, "report": 5}, {"parse": 3, "report": 4})
WITHIN_S = 45.0
SETTLE_S = 15.0
"""After the daemon was started anew, s: Nimbus comes back to it."""
_HERE = (sys.executable, "-m", "benchmarks.rebalance_pauses")


def main() -> None:
    """Measure, or be the process in the lab that rebalances."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--blocks", type=int, default=4, help="of one setting each (default 4)")
    parser.add_argument("--rebalances", type=int, default=4, help="in each block (default 4)")
    parser.add_argument("--inside", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside is not None:
        print(json.dumps(pauses_s(options.rebalances, options.inside)))
    else:
        measure(options.blocks, options.rebalances)


def measure(blocks: int, rebalances: int) -> None:
    """Print the pauses of each block, and both medians and longest ones."""
    print(provenance().line())
    print("| ports | pauses, s |\n| --- | --- |")
    found: dict[bool, list[float]] = {True: [], False: []}
    with tempfile.TemporaryDirectory() as scratch, running_lab(Sleeping.sites, "stormplace") as lab:
        _submit(lab, Path(scratch))
        for block in range(blocks):
            fresh = block % 2 == 0
            _restart_daemon(lab, fresh=fresh)
            before = block * rebalances
            own = json.loads(run(lab, *_HERE, f"--inside={before}", f"--rebalances={rebalances}"))
            found[fresh] += own
            print(f"| {_name(fresh)} | {', '.join(f'{each:.1f}' for each in own)} |", flush=True)
    for fresh, own in found.items():
        if own:
            print(f"{_name(fresh)}: median {statistics.median(own):.1f} s, longest {max(own):.1f} s")


def _name(fresh: bool) -> str:
    return "fresh" if fresh else "the same"


def _submit(lab: LabClient, folder: Path) -> None:
    address = lab.status().host("nimbus")
    if address is None:
        raise SystemExit("the lab has no host named nimbus")
    graphite = Address(str(address.address), 2003)
    arguments = Sleeping().submit(Start(run=RUN.id, rate=RATE, graphite=graphite, folder=folder))
    run(lab, sys.executable, *arguments)


def _restart_daemon(lab: LabClient, *, fresh: bool) -> None:
    lab.stop_daemon()
    room = read_site_file(Sleeping.sites).executors_per_host
    text = daemon_toml(lab.folder, room, {"move": {"fresh_ports": fresh}})
    lab.folder.daemon_settings.write_text(text, encoding="utf-8")
    lab.start_daemon()
    time.sleep(SETTLE_S)


def pauses_s(rebalances: int, before: int) -> list[float]:
    """Return the pause of each rebalance, s; items come all the while.

    Args:
        rebalances: How many.
        before: How many there were before: each asks for other numbers than the one before it.
    """
    redis = Redis.from_url(f"redis://{REDIS}", decode_responses=True)
    nimbus = NimbusCluster([Address.parse(NIMBUS)])
    await_open(redis, RUN)
    stop = threading.Event()
    feeding = threading.Thread(target=_feed, args=(stop,))
    feeding.start()
    found = []
    try:
        for number in range(before, before + rebalances):
            time.sleep(5.0)
            begun_s = time.time()
            nimbus.rebalance(Sleeping.name, SIZES[number % len(SIZES)])
            time.sleep(WITHIN_S)
            found.append(longest_gap_s(_arrivals_s(redis, begun_s), begun_s))
    finally:
        stop.set()
        feeding.join()
    return found


def longest_gap_s(arrivals_s: Sequence[float], begun_s: float) -> float:
    """Return the longest time without an arrival within 45 s.

    Args:
        arrivals_s: (n,) ascending.
        begun_s: From when on.
    """
    own = [each for each in arrivals_s if begun_s <= each <= begun_s + WITHIN_S]
    edges = [begun_s, *own, begun_s + WITHIN_S]
    return max(after - before for before, after in pairwise(edges))


def _feed(stop: threading.Event) -> None:
    redis = Redis.from_url(f"redis://{REDIS}", decode_responses=True)
    number = 0
    while not stop.wait(1.0 / RATE):
        send(redis, RUN, [item_text(number, time.time_ns() // 1000)])
        number += 1


def _arrivals_s(redis: Redis, since_s: float) -> list[float]:
    found = redis.xrange(RUN.arrived, min=int(since_s * 1000.0))
    entries = cast("list[tuple[str, dict[str, str]]]", found)
    return sorted(int(fields["us"]) / 1e6 for _, fields in entries)


if __name__ == "__main__":
    main()
