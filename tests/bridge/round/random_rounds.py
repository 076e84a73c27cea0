"""Small random clusters, with topologies that run somewhere, as requests."""

from __future__ import annotations

import json
import random
from dataclasses import replace

from bridge.wire.messages import UNASSIGNED, Grouping

SITES = ("rome", "paris", "oslo")


def random_request(make, seed, settings=lambda _random, _components: {}, meta=lambda _random: {}):
    """A cluster of three to six hosts at up to three sites, with one or two chains.

    Args:
        make: Builders of requests.
        seed: Of all choices.
        settings: Returns a topology's settings below its prefix, from a source of chance and its components.
        meta: Returns further metadata of a supervisor.
    """
    chance = random.Random(seed)
    hosts = [
        (f"h{number}", chance.choice(SITES), chance.uniform(0, 80)) for number in range(chance.randint(3, 6))
    ]
    supervisors = tuple(
        make.supervisor(
            host,
            ports=(6700, 6701, 6702),
            meta={
                "stormplace.site": site,
                "stormplace.executors": str(chance.randint(3, 6)),
                **meta(chance),
            },
        )
        for host, site, _ in hosts
    )
    readings = tuple(make.reading(host, site, x) for host, site, x in hosts)
    topologies = tuple(
        _topology(make, chance, number, len(hosts), settings) for number in range(chance.randint(1, 2))
    )
    return replace(make.cluster(*topologies), supervisors=supervisors, readings=readings)


def _topology(make, chance, number, n_hosts, settings):
    parallelism = [chance.randint(1, 2) for _ in range(chance.randint(2, 4))]
    topology = make.chain(f"t{number}", parallelism, [Grouping.SHUFFLE] * (len(parallelism) - 1))
    where = [chance.randrange(n_hosts) for _ in range(topology.n_executors)]
    if chance.random() < 0.2:
        where[0] = UNASSIGNED
    ports = [UNASSIGNED if host == UNASSIGNED else 6700 + number for host in where]
    own = settings(chance, topology.component_names)
    text = json.dumps({f"topology.stormplace.{key}": value for key, value in own.items()})
    return replace(make.assigned(topology, where, ports), settings_json=text)
