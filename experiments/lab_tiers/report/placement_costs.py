"""What a placement that ran costs by the decision core, whoever made it (paper 002, eq. 5 to 7)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from experiments.lab_steps import CPU_PERCENT
from experiments.lab_tiers.query_conf import WEIGHTS
from replay.analysis.placement import TAXI_STREAMS
from scheduler.evaluation.evaluate import evaluate
from scheduler.model.metrics.link_cost import LINK_COST
from scheduler.model.metrics.placement_cost import LOAD, PLACEMENT_COST
from scheduler.model.problem import Application, Network, Node, Objective, Operator, Problem, Stream

if TYPE_CHECKING:
    from collections.abc import Sequence

    from formats.site_file import SiteFile
    from replay.analysis.placement import ExecutorPlace


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
    """Return what a placement of query 1 costs, one executor per component.

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
    operators = tuple(Operator(place.component, demand={LOAD: CPU_PERCENT}) for place in places)
    application = Application(operators, tuple(Stream(start, end) for start, end in TAXI_STREAMS))
    network = Network(nodes, np.zeros_like(link_cost), link_cost=link_cost)
    problem = Problem(application, network, Objective(dict(WEIGHTS)))
    index = {host: k for k, (host, _) in enumerate(hosts)}
    placement = np.array([index[place.host] for place in places], dtype=np.int64)
    found = evaluate(problem, placement)
    return Costs(found.values[PLACEMENT_COST.name], found.values[LINK_COST.name], found.objective)
