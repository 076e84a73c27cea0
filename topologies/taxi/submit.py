"""Submission of the taxi topology without Leiningen, ssh or a storm binary: jar, configuration, Thrift."""

from __future__ import annotations

import copy
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from formats.semantics import Semantics
from topologies.batches.acking import REPLAY_KEY, is_replayed
from topologies.submission import ACKERS_KEY, base_configuration, component_command, deliver
from topologies.taxi.settings import QUERIES_KEY, REDIS_KEY, RUN_KEY, SHARES_KEY, TaxiSettings
from topologies.taxi.topology import SHARE_KEEPERS, taxi_topology

if TYPE_CHECKING:
    from collections.abc import Mapping

    from formats.address import Address
    from topologies.taxi.keys import Run

PENDING_KEY = "topology.max.spout.pending"


@dataclass(frozen=True, slots=True)
class Submission:
    """What to submit.

    Attributes:
        name: Name of the topology.
        run: The run that it serves.
        redis: Redis as the workers see it.
        workers: Worker slots to ask for; None leaves the default.
        pins: Where components must run: `{component: "site:NAME" | "host:NAME"}`.
        python_env: Environment of the workers' Python, the same path on every host, with streamparse in it.
        queries: The queries that the topology answers.
        tasks: Tasks by component; 1 where none are given.
        semantics: How the queries are read.
        replay: Whether Storm's acking guards the batches too; sets one acker.
        conf: The user's topology configuration; wins over everything else.
    """

    name: str
    run: Run
    redis: Address
    workers: int | None = None
    pins: Mapping[str, str] = field(default_factory=dict)
    python_env: Path = Path(sys.prefix)
    queries: tuple[str, ...] = ("1",)
    tasks: Mapping[str, int] = field(default_factory=dict)
    semantics: Semantics = field(default_factory=Semantics)
    replay: bool = False
    conf: Mapping[str, object] = field(default_factory=dict)


def configuration(submission: Submission) -> dict[str, object]:
    """Return the topology configuration of a submission.

    Raises:
        ValueError: A key of the query's own is wrong, or replay is asked for without ackers.
    """
    conf = base_configuration(submission.workers, submission.pins)
    if submission.replay:
        conf[REPLAY_KEY] = True
    if is_replayed({**conf, **submission.conf}):
        conf |= {ACKERS_KEY: 1, PENDING_KEY: 1_000}
    conf |= submission.semantics.conf()
    conf[SHARES_KEY] = max(submission.tasks.get(component, 1) for component in SHARE_KEEPERS)
    conf.update(submission.conf)
    conf[REDIS_KEY] = str(submission.redis)
    conf[RUN_KEY] = submission.run.id
    conf[QUERIES_KEY] = ",".join(submission.queries)
    if is_replayed(conf) and conf[ACKERS_KEY] == 0:
        msg = f"{REPLAY_KEY} needs ackers, but {ACKERS_KEY} is 0: no batch that fails would be reported"
        raise ValueError(msg)
    TaxiSettings.from_conf(conf)
    Semantics.from_conf(conf)
    return conf


def thrift_topology(submission: Submission) -> Any:
    """Return the topology as Storm wants it, its components started by `streamparse_run`."""
    topology = copy.deepcopy(taxi_topology(submission.queries, submission.tasks).thrift_topology)
    command = str(component_command(submission.python_env))
    for spout in topology.spouts.values():
        spout.spout_object.shell.execution_command = command
    for bolt in topology.bolts.values():
        bolt.bolt_object.shell.execution_command = command
    return topology


def submit(address: Address, submission: Submission) -> None:
    """Submit the taxi topology.

    Args:
        address: Nimbus' Thrift port.
        submission: What to submit.

    Raises:
        NimbusError: Nimbus cannot be reached or refuses.
        FileNotFoundError: The Python environment has no `streamparse_run`.
        ValueError: As `configuration`.
    """
    deliver(
        address,
        submission.name,
        configuration(submission),
        thrift_topology(submission),
        submission.python_env,
    )
