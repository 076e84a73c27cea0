"""Submission of a synthetic topology: jar, configuration, Thrift."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from topologies.submission import base_configuration, deliver
from topologies.synthetic.keys import REDIS_KEY, RUN_KEY, WORKLOAD_KEY, SyntheticRun
from topologies.synthetic.topology import thrift_topology

if TYPE_CHECKING:
    from collections.abc import Mapping

    from formats.address import Address
    from topologies.synthetic.workload import Workload

RATES_KEY = "topology.stormplace.rates"


@dataclass(frozen=True, slots=True)
class SyntheticSubmission:
    """What to submit.

    Attributes:
        name: Name of the topology.
        run: The run that it serves.
        redis: Redis as the sinks' workers see it.
        workload: What the topology does.
        workers: Worker slots to ask for; None leaves the default.
        pins: Where components must run: `{component: "site:NAME" | "host:NAME"}`.
        python_env: Environment of the workers' Python, the same path on every host, with streamparse in it.
        conf: The user's topology configuration; wins over everything but the workload, the run and Redis.
    """

    name: str
    run: SyntheticRun
    redis: Address
    workload: Workload
    workers: int | None = None
    pins: Mapping[str, str] = field(default_factory=dict)
    python_env: Path = Path(sys.prefix)
    conf: Mapping[str, object] = field(default_factory=dict)


def configuration(submission: SyntheticSubmission) -> dict[str, object]:
    """Return the topology configuration of a submission.

    The rates are declared to Stormplace's scheduler, which would else not know them before they are measured;
    a component has one declared rate, the highest of its streams.
    """
    workload = submission.workload
    conf = base_configuration(submission.workers, submission.pins)
    conf[RATES_KEY] = {
        operator.component: max(workload.streams[k].rate for k in leaving)
        for index, operator in enumerate(workload.operators)
        if (leaving := workload.leaving(index))
    }
    conf.update(submission.conf)
    conf[REDIS_KEY] = str(submission.redis)
    conf[RUN_KEY] = submission.run.id
    conf[WORKLOAD_KEY] = workload.to_conf()
    return conf


def submit(address: Address, submission: SyntheticSubmission) -> None:
    """Submit a synthetic topology.

    Args:
        address: Nimbus' Thrift port.
        submission: What to submit.

    Raises:
        NimbusError: Nimbus cannot be reached or refuses.
        FileNotFoundError: The Python environment has no `streamparse_run`.
    """
    topology = thrift_topology(submission.workload, submission.python_env)
    deliver(address, submission.name, configuration(submission), topology, submission.python_env)
