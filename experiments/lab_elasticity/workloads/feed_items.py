"""Feeds a list in Redis and waits for what comes out; a program that runs on the lab's Redis host.

Items are kept by their numbers, in the order in which they are due.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import TYPE_CHECKING

from redis import Redis

from experiments.lab_elasticity.workloads.workload import BEGINS
from formats.address import Address
from topologies.collecting import follow
from topologies.sleeping.configuration import SleepingRun, item_number, item_text

if TYPE_CHECKING:
    from collections.abc import Sequence

PROBES = 24
"""Items that show that the way is open before the load begins: some come to each task."""
OPEN_WITHIN_S = 180.0
SILENCE_S = 60.0
"""Longest time without anything new at the end: what is lost on its way comes again after its timeout."""
_PAGE = 1000
_LEAD_S = 1.0
_SAY_EVERY_S = 10.0


class FeedError(Exception):
    """Nothing can be measured; the message is one sentence."""


def send(redis: Redis, run: SleepingRun, items: Sequence[str]) -> None:
    """Send items, and count them."""
    pipe = redis.pipeline(transaction=True)
    pipe.rpush(run.waiting, *items)
    pipe.incrby(run.count, len(items))
    pipe.execute()


def await_open(redis: Redis, run: SleepingRun) -> None:
    """Send a few items and wait until they have come.

    Raises:
        FeedError: They do not.
    """
    now_us = time.time_ns() // 1000
    send(redis, run, [item_text(-number, now_us) for number in range(1, PROBES + 1)])
    missing = set(range(-PROBES, 0))
    for entries in follow(redis, [run.arrived], _PAGE, OPEN_WITHIN_S):
        missing -= {item_number(fields["item"]) for _, (_, fields) in entries}
        if not missing:
            return
    raise FeedError(f"{len(missing)} of {PROBES} items did not come through within {OPEN_WITHIN_S:g} s")


def feed(redis: Redis, run: SleepingRun, due_us: Sequence[int]) -> None:
    """Send items when they are due; what is due together is sent together."""
    number = 0
    said_s = time.time()
    while number < len(due_us):
        now_us = time.time_ns() // 1000
        ready: list[str] = []
        while number < len(due_us) and due_us[number] <= now_us:
            ready.append(item_text(number, due_us[number]))
            number += 1
        if ready:
            send(redis, run, ready)
        elif number < len(due_us):
            time.sleep((due_us[number] - now_us) / 1e6)
        if time.time() - said_s >= _SAY_EVERY_S:
            said_s = time.time()
            print(f"{number} of {len(due_us)} items, {redis.llen(run.waiting)} wait", flush=True)


def arrivals(redis: Redis, run: SleepingRun, count: int) -> list[tuple[int, int]]:
    """Return number and moment (unix microseconds) of all that came.

    Waits until every item has come, or nothing new comes.
    """
    found: list[tuple[int, int]] = []
    missing = set(range(count))
    for entries in follow(redis, [run.arrived], _PAGE, SILENCE_S):
        for _, (_, fields) in entries:
            number = item_number(fields["item"])
            if number >= 0:
                found.append((number, int(fields["us"])))
                missing.discard(number)
        if not missing:
            break
    return found


def main() -> None:
    """Feed as the arguments say, and write what came."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--redis", required=True)
    parser.add_argument("--run", required=True)
    parser.add_argument("--due", required=True, type=Path, help="JSON: seconds since the start")
    parser.add_argument("--out", required=True, type=Path, help="JSON of what was due and what came")
    asked = parser.parse_args()
    address, run = Address.parse(asked.redis), SleepingRun(asked.run)
    redis = Redis(address.host, address.port, decode_responses=True)
    redis.delete(run.waiting, run.count, run.taken, run.arrived)
    due_s: list[float] = json.loads(asked.due.read_text(encoding="utf-8"))
    await_open(redis, run)
    start_us = time.time_ns() // 1000 + int((_LEAD_S - min(*due_s, 0.0)) * 1e6)
    print(f"{BEGINS} at {start_us / 1e6:.3f}", flush=True)
    due_us = [start_us + int(each * 1e6) for each in due_s]
    feed(redis, run, due_us)
    found = arrivals(redis, run, len(due_us))
    content = {"start_us": start_us, "due_us": due_us, "arrived": found}
    asked.out.write_text(json.dumps(content) + "\n", encoding="utf-8")
    print(f"{len(due_us)} items fed, {len({number for number, _ in found})} came", flush=True)


if __name__ == "__main__":
    main()
