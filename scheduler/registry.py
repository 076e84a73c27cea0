"""The strategies by name: the one place that lists them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scheduler.contract.strategy import NoParameters, StrategyEntry
from scheduler.strategies.even import even
from scheduler.strategies.greedy import greedy
from scheduler.strategies.greedy_no_penalty import greedy_no_penalty
from scheduler.strategies.hierarchical import HierarchicalParameters, hierarchical
from scheduler.strategies.ils import IlsParameters, ils
from scheduler.strategies.ils import tireless as ils_tireless
from scheduler.strategies.local_search import LocalSearchParameters, local_search
from scheduler.strategies.odp import OdpParameters, odp
from scheduler.strategies.odp import tireless as odp_tireless
from scheduler.strategies.odp_ps import OdpPsParameters, odp_ps
from scheduler.strategies.odp_timeout import OdpTimeoutParameters, odp_timeout
from scheduler.strategies.portfolio import PortfolioParameters, portfolio
from scheduler.strategies.portfolio import tireless as portfolio_tireless
from scheduler.strategies.res_odp import ResOdpParameters, res_odp
from scheduler.strategies.tabu_search import TabuSearchParameters, tabu_search
from scheduler.strategies.tabu_search import tireless as tabu_search_tireless

if TYPE_CHECKING:
    from collections.abc import Mapping

_ENTRIES: tuple[StrategyEntry[Any], ...] = (
    StrategyEntry(
        name="greedy",
        solve=greedy,
        parameters=NoParameters,
        summary="first-fit over nodes sorted by link penalty to the pinned ones",
        never_worse_than_greedy=True,
        scales=True,
    ),
    StrategyEntry(
        name="greedy-no-penalty",
        solve=greedy_no_penalty,
        parameters=NoParameters,
        summary="first-fit over nodes as they are listed",
        scales=True,
    ),
    StrategyEntry(
        name="local-search",
        solve=local_search,
        parameters=LocalSearchParameters,
        summary="descent from greedy: co-locate, swap resources, move single operators",
        anytime=True,
        never_worse_than_greedy=True,
    ),
    StrategyEntry(
        name="tabu-search",
        solve=tabu_search,
        parameters=TabuSearchParameters,
        summary="on from the local optimum through the best placements not visited lately",
        anytime=True,
        never_worse_than_greedy=True,
        tireless=tabu_search_tireless,
    ),
    StrategyEntry(
        name="ils",
        solve=ils,
        parameters=IlsParameters,
        summary="a population of walkers that descend, cross ridges and exchange placements",
        anytime=True,
        never_worse_than_greedy=True,
        tireless=ils_tireless,
    ),
    StrategyEntry(
        name="portfolio",
        solve=portfolio,
        parameters=PortfolioParameters,
        summary="greedy at once, then ils beside the exact solver: best placement and bound at any moment",
        exact=True,
        anytime=True,
        never_worse_than_greedy=True,
        tireless=portfolio_tireless,
    ),
    StrategyEntry(
        name="odp",
        solve=odp,
        parameters=OdpParameters,
        summary="the optimal placement with its proof",
        exact=True,
        anytime=True,
        never_worse_than_greedy=True,
        tireless=odp_tireless,
        ends_with_proof=True,
    ),
    StrategyEntry(
        name="odp-timeout",
        solve=odp_timeout,
        parameters=OdpTimeoutParameters,
        summary="the exact solver, stopped at a time limit",
        exact=True,
        anytime=True,
        never_worse_than_greedy=True,
    ),
    StrategyEntry(
        name="hierarchical",
        solve=hierarchical,
        parameters=HierarchicalParameters,
        summary="the exact solver on virtual data centres, then within those that it used",
        anytime=True,
        never_worse_than_greedy=True,
    ),
    StrategyEntry(
        name="odp-ps",
        solve=odp_ps,
        parameters=OdpPsParameters,
        summary="the exact solver on the smallest set of near nodes that suffices",
        anytime=True,
        never_worse_than_greedy=True,
    ),
    StrategyEntry(
        name="res-odp",
        solve=res_odp,
        parameters=ResOdpParameters,
        summary="the exact solver on the nodes that a linear relaxation uses, and neighbours",
        anytime=True,
        never_worse_than_greedy=True,
    ),
    StrategyEntry(
        name="even",
        solve=even,
        parameters=NoParameters,
        summary="operators dealt out in turn, blind to delays; a reference",
        scales=True,
    ),
)

STRATEGIES: Mapping[str, StrategyEntry[Any]] = {entry.name: entry for entry in _ENTRIES}
