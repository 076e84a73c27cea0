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

from formats.address import Address
from formats.nimbus import NimbusError
from provisioning.cluster.nimbus import NimbusCluster
from provisioning.measuring.lag import LagError
from provisioning.measuring.redis_lag import RedisLagSettings

EVERY_S = 2.0


def main() -> None:
    """Look until SIGTERM comes."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("nimbus", "name", "lag"):
        parser.add_argument(f"--{name}", required=True)
    asked = parser.parse_args()
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    source = RedisLagSettings.model_validate_json(asked.lag).reader()
    cluster = NimbusCluster([Address.parse(asked.nimbus)])
    while not stop.is_set():
        begun_s = time.monotonic()
        try:
            look = cluster.look({asked.name})
            waiting = source.lag().waiting
        except (NimbusError, LagError) as error:
            # between two looks the cluster may change: the next one sees it
            sys.stderr.write(f"{error}\n")
        else:
            topology = look.topologies.get(asked.name)
            line = {
                "time_s": time.time(),
                "hosts": sorted(look.supervisors),
                "executors": Counter() if topology is None else topology.counts(),
                "used": sorted({each.host for each in topology.executors}) if topology else [],
                "waiting": round(waiting),
            }
            sys.stdout.write(json.dumps(line) + "\n")
            sys.stdout.flush()
        stop.wait(max(begun_s + EVERY_S - time.monotonic(), 0.0))


if __name__ == "__main__":
    main()
