"""The queries as topologies (query 1: paper 000, figure 8 and appendix E)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from streamparse import Grouping, Topology

from topologies.taxi.components.area_ranks import GlobalAreaRank, Profitability
from topologies.taxi.components.cleaning import AREA_PROGRESS, AREAS, PROGRESS, FilterByCoordinates, Parser
from topologies.taxi.components.counting import CountByWindow
from topologies.taxi.components.dividing import TAXIS, TRIPS, AreaMetronome, ComputeAreaID
from topologies.taxi.components.ranks import GlobalRank, PartialRank
from topologies.taxi.components.routes import ComputeRouteID, Metronome
from topologies.taxi.components.source import DataSource
from topologies.taxi.components.taxis import EmptyTaxis

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

SINGLE = ("dataSource", "metronome", "areaMetronome", "globalRank", "globalAreaRank")
"""Components that have one task; the others may have any number."""

SHARE_KEEPERS = ("countByWindow", "partialRank", "emptyTaxis", "profitability")
"""Components that keep shares; the most tasks of one of them set the default number of shares."""


def component_ids(queries: Collection[str]) -> tuple[str, ...]:
    """Return the ids of the components that answer some queries."""
    return tuple(spec.name for spec in taxi_topology(queries, {}).specs)


def taxi_topology(
    queries: Collection[str], tasks: Mapping[str, int], executors: Mapping[str, int] | None = None
) -> type[Topology]:
    """Return the topology that answers some queries.

    Rows and the progress of time part at filterByCoordinates and meet again where they are counted.

    Args:
        queries: The queries.
        tasks: Tasks by component; 1 where none are given.
        executors: Executors that components begin with, at most as many as tasks, which is the default.
    """

    def spec(component: Any, name: str, inputs: Any) -> Any:
        own = tasks.get(name, 1)
        begin = min(own, (executors or {}).get(name, own))
        # without any Storm takes as many tasks as executors
        config = None if begin == own else {**(component.config or {}), "topology.tasks": own}
        return component.spec(name=name, inputs=inputs, par=begin, config=config)

    by_share = Grouping.fields("share")
    source = DataSource.spec(name="dataSource")
    parser = spec(Parser, "parser", {source: Grouping.SHUFFLE})
    sieve = spec(FilterByCoordinates, "filterByCoordinates", {parser: Grouping.SHUFFLE})
    specs = [source, parser, sieve]
    if "1" in queries:
        route = spec(ComputeRouteID, "computeRouteID", {sieve: Grouping.SHUFFLE})
        metronome = spec(Metronome, "metronome", {sieve[PROGRESS]: Grouping.GLOBAL})
        count = spec(CountByWindow, "countByWindow", {route: by_share, metronome: by_share})
        partial = spec(PartialRank, "partialRank", {count: by_share})
        final = spec(GlobalRank, "globalRank", {partial: Grouping.GLOBAL})
        specs += [route, metronome, count, partial, final]
    if "2" in queries:
        area = spec(ComputeAreaID, "computeAreaID", {sieve[AREAS]: Grouping.SHUFFLE})
        metronome = spec(AreaMetronome, "areaMetronome", {sieve[AREA_PROGRESS]: Grouping.GLOBAL})
        taxis = spec(EmptyTaxis, "emptyTaxis", {area[TAXIS]: by_share, metronome: by_share})
        profit = spec(
            Profitability, "profitability", {area[TRIPS]: by_share, taxis: by_share, metronome: by_share}
        )
        final = spec(GlobalAreaRank, "globalAreaRank", {profit: Grouping.GLOBAL})
        specs += [area, metronome, taxis, profit, final]
    topology: type[Topology] = type(Topology)(
        "TaxiTopology", (Topology,), {each.name: each for each in specs}
    )
    return topology
