"""What a topology's settings say about how its strategy works."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scheduler.reduce.additions.colocation import SHARE
from scheduler.registry import STRATEGIES
from scheduler.strategies.inop_heuristics import HeuristicParameters

if TYPE_CHECKING:
    from bridge.wishes.topology_settings import TopologySettings


def parameters_of(settings: TopologySettings) -> HeuristicParameters | None:
    """Return the parameters of a topology's strategy; None stands for its defaults.

    What a heuristic adds is dropped where it leaves nothing, or a worse placement than `cloud-greedy`: a
    topology that could run has to.
    """
    if STRATEGIES[settings.strategy].parameters is not HeuristicParameters:
        return None
    share = settings.inop_colocate_share
    return HeuristicParameters(
        mixed=settings.inop_mixed, colocate_share=SHARE if share is None else share, drop=True
    )
