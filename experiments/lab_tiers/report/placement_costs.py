"""What a placement that ran costs by the decision core, whoever made it (paper 002, eq. 5 to 7)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from experiments.lab_steps import CPU_PERCENT
from experiments.lab_tiers.query_conf import WEIGHTS
from replay.analysis.placement import TAXI_STREAMS
from replay.analysis.predict import SINK, SOURCE
from scheduler.evaluation.evaluate import evaluate
from scheduler.model.metrics.link_cost import LINK_COST
from scheduler.model.metrics.placement_cost import LOAD, PLACEMENT_COST
from scheduler.model.problem import Application, Network, Node, Objective, Operator, Problem, Stream

if TYPE_CHECKING:
    from collections.abc import Sequence

    from formats.site_file import SiteFile
    from replay.analysis.placement import ExecutorPlace

_ROWS, _RESULTS = "rows in Redis", "results in Redis"


@dataclass(frozen=True)
class Costs:
    """Costs of a placement, in cost units.

    Attributes:
        placement: P (eq. 5).
        link: Q (eq. 6).
        total: The weighed sum (eq. 7).
    """

    placement: float
    link: float
    total: float


def costs_of(places: Sequence[ExecutorPlace], sites: SiteFile) -> Costs:
    """Return what a placement of query 1 costs, one executor per component; ways from and to Redis count.

    Args:
        places: Executors and their hosts.
        sites: Site file with the costs.
    """
    of_site = {site.name: site for site in sites.site}
    cost_of_pair = {frozenset(link.between): link.cost for link in sites.link}
    hosts = list(sites.hosts.items())
    nodes = tuple(Node(host, {}, site=site, unit_cost=of_site[site].unit_cost) for host, site in hosts)
    link_cost = np.array(
        [[0.0 if a == b else cost_of_pair[frozenset((a, b))] for _, b in hosts] for _, a in hosts]
    )
    operators = [Operator(place.component, demand={LOAD: CPU_PERCENT}) for place in places]
    # outside Storm, so without load: where rows come from, and where results go
    operators += [Operator(name, demand={LOAD: 0.0}) for name in (_ROWS, _RESULTS)]
    streams = (*TAXI_STREAMS, (_ROWS, SOURCE), (SINK, _RESULTS))
    application = Application(tuple(operators), tuple(Stream(start, end) for start, end in streams))
    network = Network(nodes, np.zeros_like(link_cost), link_cost=link_cost)
    problem = Problem(application, network, Objective(dict(WEIGHTS)))
    index = {host: k for k, (host, _) in enumerate(hosts)}
    redis = next(host for host, site in hosts if site == sites.redis)
    placement = np.array([index[host] for host in (*(each.host for each in places), redis, redis)])
    found = evaluate(problem, placement)
    return Costs(found.values[PLACEMENT_COST.name], found.values[LINK_COST.name], found.objective)
