"""The query as a topology of eight operators (paper 000, figure 8 and appendix E)."""

from __future__ import annotations

from streamparse import Grouping, Topology

from topologies.taxi.components.cleaning import PROGRESS, FilterByCoordinates, Parser
from topologies.taxi.components.counting import CountByWindow
from topologies.taxi.components.ranks import GlobalRank, PartialRank
from topologies.taxi.components.routes import ComputeRouteID, Metronome
from topologies.taxi.components.source import DataSource


class TaxiTopology(Topology):  # type: ignore[misc]  # streamparse has no types
    """Rows and the progress of time part at filterByCoordinates and meet again at countByWindow."""

    data_source = DataSource.spec(name="dataSource")
    parser = Parser.spec(name="parser", inputs={data_source: Grouping.SHUFFLE})
    filter_by_coordinates = FilterByCoordinates.spec(
        name="filterByCoordinates", inputs={parser: Grouping.SHUFFLE}
    )
    compute_route_id = ComputeRouteID.spec(
        name="computeRouteID", inputs={filter_by_coordinates: Grouping.SHUFFLE}
    )
    metronome = Metronome.spec(name="metronome", inputs={filter_by_coordinates[PROGRESS]: Grouping.SHUFFLE})
    count_by_window = CountByWindow.spec(
        name="countByWindow",
        inputs={compute_route_id: Grouping.fields("route"), metronome: Grouping.ALL},
    )
    partial_rank = PartialRank.spec(name="partialRank", inputs={count_by_window: Grouping.fields("share")})
    global_rank = GlobalRank.spec(name="globalRank", inputs={partial_rank: Grouping.GLOBAL})
