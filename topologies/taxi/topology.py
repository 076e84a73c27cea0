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

_SHARED = ("dataSource", "parser", "filterByCoordinates")
_ROUTES = ("computeRouteID", "metronome", "countByWindow", "partialRank", "globalRank")
_AREAS = ("computeAreaID", "areaMetronome", "emptyTaxis", "profitability", "globalAreaRank")

SINGLE = ("dataSource", "metronome", "areaMetronome", "globalRank", "globalAreaRank")
"""Components that have one task; the others may have any number."""

SHARE_KEEPERS = ("countByWindow", "partialRank", "emptyTaxis", "profitability")
"""Components that keep shares; the most tasks of one of them set the default number of shares."""


def component_ids(queries: Collection[str]) -> tuple[str, ...]:
    """Return the ids of the components that answer some queries."""
    return _SHARED + (_ROUTES if "1" in queries else ()) + (_AREAS if "2" in queries else ())


def taxi_topology(queries: Collection[str], tasks: Mapping[str, int]) -> type[Topology]:
    """Return the topology that answers some queries.

    Rows and the progress of time part at filterByCoordinates and meet again where they are counted.

    Args:
        queries: The queries.
        tasks: Tasks by component; 1 where none are given.
    """
    source = DataSource.spec(name="dataSource")
    parser = Parser.spec(name="parser", inputs={source: Grouping.SHUFFLE}, par=tasks.get("parser", 1))
    sieve = FilterByCoordinates.spec(
        name="filterByCoordinates", inputs={parser: Grouping.SHUFFLE}, par=tasks.get("filterByCoordinates", 1)
    )
    specs: dict[str, Any] = {"source": source, "parser": parser, "sieve": sieve}
    if "1" in queries:
        specs |= _routes(sieve, tasks)
    if "2" in queries:
        specs |= _areas(sieve, tasks)
    topology: type[Topology] = type(Topology)("TaxiTopology", (Topology,), specs)
    return topology


def _routes(sieve: Any, tasks: Mapping[str, int]) -> dict[str, Any]:
    """Return the components of query 1 alone."""
    route = ComputeRouteID.spec(
        name="computeRouteID", inputs={sieve: Grouping.SHUFFLE}, par=tasks.get("computeRouteID", 1)
    )
    metronome = Metronome.spec(name="metronome", inputs={sieve[PROGRESS]: Grouping.GLOBAL})
    count = CountByWindow.spec(
        name="countByWindow",
        inputs={route: Grouping.fields("share"), metronome: Grouping.fields("share")},
        par=tasks.get("countByWindow", 1),
    )
    partial = PartialRank.spec(
        name="partialRank", inputs={count: Grouping.fields("share")}, par=tasks.get("partialRank", 1)
    )
    final = GlobalRank.spec(name="globalRank", inputs={partial: Grouping.GLOBAL})
    return {"route": route, "metronome": metronome, "count": count, "partial": partial, "final": final}


def _areas(sieve: Any, tasks: Mapping[str, int]) -> dict[str, Any]:
    """Return the components of query 2 alone."""
    area = ComputeAreaID.spec(
        name="computeAreaID", inputs={sieve[AREAS]: Grouping.SHUFFLE}, par=tasks.get("computeAreaID", 1)
    )
    metronome = AreaMetronome.spec(name="areaMetronome", inputs={sieve[AREA_PROGRESS]: Grouping.GLOBAL})
    taxis = EmptyTaxis.spec(
        name="emptyTaxis",
        inputs={area[TAXIS]: Grouping.fields("share"), metronome: Grouping.fields("share")},
        par=tasks.get("emptyTaxis", 1),
    )
    profit = Profitability.spec(
        name="profitability",
        inputs={
            area[TRIPS]: Grouping.fields("share"),
            taxis: Grouping.fields("share"),
            metronome: Grouping.fields("share"),
        },
        par=tasks.get("profitability", 1),
    )
    final = GlobalAreaRank.spec(name="globalAreaRank", inputs={profit: Grouping.GLOBAL})
    return {
        "area": area,
        "area_metronome": metronome,
        "taxis": taxis,
        "profit": profit,
        "area_final": final,
    }
