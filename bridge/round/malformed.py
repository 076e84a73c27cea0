"""What a response says of topologies that the request describes wrongly: the reason, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bridge.wire.messages import Decision, TopologyPlan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bridge.wire.messages import PlanResponse
    from bridge.wire.request_decoding import Malformed

_NO_STRATEGY = "none"


def name_malformed(response: PlanResponse, malformed: Sequence[Malformed]) -> PlanResponse:
    """Return a response that keeps malformed topologies as they are, with the reason as their status.

    The shim leaves one alone that runs completely, and gives one with missing executors to Storm's own
    scheduler.

    Args:
        response: What was planned, with stand-ins in their places.
        malformed: What is wrong with which of them.
    """
    if not malformed:
        return response
    named = {each.id: _kept(each) for each in malformed}
    plans = tuple(named.pop(plan.topology_id, plan) for plan in response.plans)
    # One whose stand-in got no plan has its reason all the same.
    return replace(response, plans=(*plans, *named.values()))


def _kept(malformed: Malformed) -> TopologyPlan:
    status = " ".join(f"not planned, as the request describes it wrongly: {malformed.reason}".split())
    return TopologyPlan(malformed.id, Decision.KEEP, (), (), status, _NO_STRATEGY)
