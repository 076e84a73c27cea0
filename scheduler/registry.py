"""The strategies by name, in the order in which they are shown: the one place that lists them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scheduler.strategies import (
    auto,
    cloud_greedy,
    even,
    greedy,
    greedy_no_penalty,
    hierarchical,
    ils,
    inop_exact,
    inop_heuristics,
    inop_search,
    inop_sequential,
    local_search,
    odp,
    odp_ps,
    odp_timeout,
    odr,
    odr_search,
    portfolio,
    res_odp,
    tabu_search,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scheduler.contract.strategy import StrategyEntry

_ENTRIES: tuple[StrategyEntry[Any], ...] = (
    auto.ENTRY,
    greedy.ENTRY,
    greedy_no_penalty.ENTRY,
    local_search.ENTRY,
    tabu_search.ENTRY,
    ils.ENTRY,
    portfolio.ENTRY,
    odp.ENTRY,
    odp_timeout.ENTRY,
    odr.ENTRY,
    odr_search.ENTRY,
    hierarchical.ENTRY,
    odp_ps.ENTRY,
    res_odp.ENTRY,
    inop_exact.ENTRY,
    *inop_heuristics.ENTRIES,
    inop_sequential.ENTRY,
    inop_search.ENTRY,
    cloud_greedy.ENTRY,
    even.ENTRY,
)

STRATEGIES: Mapping[str, StrategyEntry[Any]] = {entry.name: entry for entry in _ENTRIES}


def anywhere() -> tuple[str, ...]:
    """Return the names of strategies that take every problem.

    Others need links or tiers, which a cluster does not state.
    """
    return tuple(name for name, entry in STRATEGIES.items() if not entry.needs)
