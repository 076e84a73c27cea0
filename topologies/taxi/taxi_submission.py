"""Submission of the taxi topology."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from formats.semantics import Semantics
from topologies.batches.acking import REPLAY_KEY, is_replayed
from topologies.submission import ACKERS_KEY, Submission
from topologies.taxi.settings import QUERIES_KEY, REDIS_KEY, RUN_KEY, SHARES_KEY, TaxiSettings
from topologies.taxi.topology import SHARE_KEEPERS, taxi_topology

if TYPE_CHECKING:
    from collections.abc import Mapping

PENDING_KEY = "topology.max.spout.pending"


@dataclass(frozen=True, slots=True, kw_only=True)
class TaxiSubmission(Submission):
    """The taxi topology; `conf` wins over everything but the queries, the run and Redis.

    Attributes:
        queries: The queries that the topology answers.
        tasks: Tasks by component; 1 where none are given.
        executors: Executors that components begin with; as many as tasks where none are given.
        semantics: How the queries are read.
        replay: Whether Storm's acking guards the batches too; sets one acker.
    """

    queries: tuple[str, ...] = ("1",)
    tasks: Mapping[str, int] = field(default_factory=dict)
    executors: Mapping[str, int] = field(default_factory=dict)
    semantics: Semantics = field(default_factory=Semantics)
    replay: bool = False

    def configuration(self) -> dict[str, object]:
        """Return the topology configuration.

        Raises:
            ValueError: A key of the query's own is wrong, or replay is asked for without ackers.
        """
        conf = self.base_configuration()
        if self.replay:
            conf[REPLAY_KEY] = True
        if is_replayed({**conf, **self.conf}):
            conf |= {ACKERS_KEY: 1, PENDING_KEY: 1_000}
        conf |= self.semantics.conf()
        conf[SHARES_KEY] = max(self.tasks.get(component, 1) for component in SHARE_KEEPERS)
        conf.update(self.conf)
        conf[REDIS_KEY] = str(self.redis)
        conf[RUN_KEY] = self.run.id
        conf[QUERIES_KEY] = ",".join(self.queries)
        if is_replayed(conf) and conf[ACKERS_KEY] == 0:
            raise ValueError(
                f"{REPLAY_KEY} needs ackers, but {ACKERS_KEY} is 0: no batch that fails would be reported"
            )
        TaxiSettings.from_conf(conf)
        Semantics.from_conf(conf)
        return conf

    def thrift_topology(self) -> Any:
        """Return the topology as Storm wants it."""
        topology = copy.deepcopy(taxi_topology(self.queries, self.tasks, self.executors).thrift_topology)
        for spout in topology.spouts.values():
            spout.spout_object.shell.execution_command = str(self.command)
        for bolt in topology.bolts.values():
            bolt.bolt_object.shell.execution_command = str(self.command)
        return topology
