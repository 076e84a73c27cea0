"""What the decision core predicts for the placement that a run really had, with the true delays."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from bridge.network_settings import NetworkSettings
from bridge.settings import PlanSettings
from replay.analysis.placement import QUERY_STREAMS, streams_of
from scheduler.evaluation.evaluate import evaluate
from scheduler.model.problem import Application, Network, Node, Operator, Problem, Stream

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from formats.site_file import SiteFile
    from replay.analysis.placement import ExecutorPlace

SOURCE, SINK = "dataSource", "globalRank"


@dataclass(frozen=True)
class CostModel:
    """What an executor and a hop cost besides the network's delay.

    Attributes:
        execution_time_ms: R_i of each component; others have `default_execution_time_ms`.
        default_execution_time_ms: R_i of a component that is not named; as the daemon's default.
        hop_overhead_ms: Added to the delay between two different hosts; as the daemon's default.
    """

    execution_time_ms: Mapping[str, float] = field(default_factory=dict)
    default_execution_time_ms: float = PlanSettings().execution_time_ms
    hop_overhead_ms: float = NetworkSettings().hop_overhead_ms


@dataclass(frozen=True)
class Prediction:
    """Prediction for one placement.

    Attributes:
        response_time_ms: R (paper 000, eq. 5-8): from the data source to the slowest last component.
        end_to_end_ms: R and the way from Redis to the data source and from the last components back to Redis.
        critical_path: Components of the slowest path.
        streams_between_sites: Pairs of executors that exchange a stream from different sites.
        critical_hops: Those of them on the critical path.
    """

    response_time_ms: float
    end_to_end_ms: float
    critical_path: tuple[str, ...]
    streams_between_sites: int
    critical_hops: int

    def document(self) -> dict[str, Any]:
        """Return the prediction as JSON values."""
        return asdict(self)


def predict(
    places: Sequence[ExecutorPlace],
    sites: SiteFile,
    costs: CostModel | None = None,
    streams: Sequence[tuple[str, str]] | None = None,
) -> Prediction:
    """Evaluate an actual placement with the decision core.

    Args:
        places: Executors and their hosts; every component of `streams` occurs.
        sites: True delays.
        costs: Execution times and overhead per hop; by default the daemon's defaults.
        streams: Streams between components, by default those of the queries whose components are there;
            every executor of one feeds every executor of the other.
    """
    costs = costs or CostModel()
    streams = streams_of(places) if streams is None else streams
    names = [f"{place.component}[{place.first_task}]" for place in places]
    operators = tuple(
        Operator(name, costs.execution_time_ms.get(place.component, costs.default_execution_time_ms))
        for name, place in zip(names, places, strict=True)
    )
    pairs = [
        (a, b)
        for source, target in streams
        for a, start in enumerate(places)
        for b, end in enumerate(places)
        if (start.component, end.component) == (source, target)
    ]
    application = Application(operators, tuple(Stream(names[a], names[b]) for a, b in pairs))
    hosts = tuple(sites.hosts)
    problem = Problem(application, _network(sites, costs.hop_overhead_ms))
    evaluation = evaluate(problem, np.array([hosts.index(place.host) for place in places], dtype=np.int64))
    path = evaluation.critical_path
    return Prediction(
        response_time_ms=evaluation.response_time_ms,
        end_to_end_ms=evaluation.response_time_ms + _redis_ms(places, sites, streams),
        critical_path=tuple(places[i].component for i in path),
        streams_between_sites=sum(places[a].site != places[b].site for a, b in pairs),
        critical_hops=sum(places[a].site != places[b].site for a, b in pairwise(path)),
    )


def predict_queries(places: Sequence[ExecutorPlace], sites: SiteFile) -> dict[int, Prediction]:
    """Return what `predict` says of the streams of each query that is there, by its number."""
    there = set(streams_of(places))
    return {
        query: predict(places, sites, streams=streams)
        for query, streams in QUERY_STREAMS.items()
        if there.issuperset(streams)
    }


def _network(sites: SiteFile, hop_overhead_ms: float) -> Network:
    hosts = list(sites.hosts.items())
    delay = np.array([[sites.between_ms(a, b) for _, b in hosts] for _, a in hosts]) + hop_overhead_ms
    np.fill_diagonal(delay, 0.0)
    # Capacity plays no part: the placement is a fact, it only has to be priced.
    nodes = tuple(Node(host, {"slots": 1.0}, site=site) for host, site in hosts)
    return Network(nodes, delay)


def _redis_ms(places: Sequence[ExecutorPlace], sites: SiteFile, streams: Sequence[tuple[str, str]]) -> float:
    """Return the longest ways from Redis to a data source and back from a last component, together, in ms."""

    def longest(components: set[str]) -> float:
        return max(
            sites.between_ms(sites.redis, place.site) for place in places if place.component in components
        )

    last = {end for _, end in streams} - {start for start, _ in streams}
    return longest({SOURCE}) + longest(last)
