"""Looks at executors, hosts and what waits, over and over; a program that runs on the lab's Nimbus host.

One JSON line per look goes to standard output until the program is ended.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import threading
import time
from collections import Counter

from redis import Redis, RedisError

from formats.address import Address
from formats.nimbus import NimbusError
from provisioning.cluster.nimbus import NimbusCluster
from topologies.sleeping.configuration import SleepingRun

EVERY_S = 2.0


def main() -> None:
    """Look until SIGTERM comes."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("nimbus", "redis", "run", "name"):
        parser.add_argument(f"--{name}", required=True)
    asked = parser.parse_args()
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    address, run = Address.parse(asked.redis), SleepingRun(asked.run)
    redis = Redis(address.host, address.port, socket_timeout=EVERY_S)
    cluster = NimbusCluster([Address.parse(asked.nimbus)])
    while not stop.is_set():
        begun_s = time.monotonic()
        try:
            look = cluster.look({asked.name})
            waiting, taken = redis.llen(run.waiting), redis.llen(run.taken)
        except (NimbusError, RedisError) as error:
            # between two looks the cluster may change: the next one sees it
            sys.stderr.write(f"{error}\n")
        else:
            topology = look.topologies.get(asked.name)
            line = {
                "time_s": time.time(),
                "hosts": sorted(look.supervisors),
                "executors": Counter() if topology is None else topology.counts(),
                "used": sorted({each.host for each in topology.executors}) if topology else [],
                "waiting": waiting,
                "taken": taken,
            }
            sys.stdout.write(json.dumps(line) + "\n")
            sys.stdout.flush()
        stop.wait(max(begun_s + EVERY_S - time.monotonic(), 0.0))


if __name__ == "__main__":
    main()
