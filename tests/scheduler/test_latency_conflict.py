from __future__ import annotations

from scheduler.latency_conflict import latency_conflict
from tests.scheduler.exact.flows.linked_problems import context
from tests.scheduler.tiers.worked_example import parsed, within


def test_the_least_within_capacities_and_bandwidths_is_named() -> None:
    """Without them results could come after 4 ms, over the link between the two edge nodes."""
    sentence = latency_conflict(parsed(within(13.0)), context())

    assert sentence == (
        "results reach a.snk after 14 ms at the least within all other constraints, and its limit is 13"
    )


def test_a_limit_that_can_be_kept_conflicts_with_nothing() -> None:
    assert latency_conflict(parsed(within(14.0)), context()) is None
    assert latency_conflict(parsed(), context()) is None


def test_what_the_network_alone_forbids_is_named_at_once() -> None:
    problem = parsed(within(3.0))

    assert problem.infeasibility == "results reach a.snk after 4 ms at the least, and its limit is 3"
    assert latency_conflict(problem, context()) is None
