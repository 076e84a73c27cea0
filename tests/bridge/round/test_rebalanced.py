"""A rebalance deals tasks anew: what restarts anyway is joined, and starts on other ports."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bridge.settings import PlanSettings
from bridge.wire.messages import UNASSIGNED
from tests.bridge.round.planner_rounds import only

PORTS = (6700, 6701, 6702, 6703)
LARGE = PlanSettings(max_pairs=1)


def rebalanced(make, left, num_workers=1):
    """Of six executors the first and the third ran on two hosts, beside tasks that four others have now."""
    topology = make.chain("t", [2, 4], [0])
    nowhere = (UNASSIGNED,) * 3
    hidden = replace(
        topology,
        num_workers=num_workers,
        last_supervisor=(0, UNASSIGNED, 1, *nowhere),
        last_port=(6700, UNASSIGNED, 6700, *nowhere),
        left_supervisor=tuple(supervisor for supervisor, _ in left),
        left_port=tuple(port for _, port in left),
    )
    meta = {"stormplace.executors": "3"}
    request = make.cluster(hidden)
    hosts = tuple(make.supervisor(f"h{number}", meta=meta, ports=PORTS) for number in range(2))
    return replace(request, supervisors=hosts, readings=())


@pytest.mark.parametrize("scale", [PlanSettings(), LARGE], ids=["small", "large"])
def test_new_executors_join_workers_that_restart_anyway(make, scale):
    """One on each host as before, on the next port, and what stays on its host does so."""
    answer = only(rebalanced(make, [(0, 6700), (1, 6700)]), plan=scale)
    slots = list(zip(answer.executor_supervisor, answer.executor_port, strict=True))
    assert set(slots) == {(0, 6701), (1, 6701)}
    assert (slots[0], slots[2]) == ((0, 6701), (1, 6701))


@pytest.mark.parametrize("scale", [PlanSettings(), LARGE], ids=["small", "large"])
def test_others_go_on(make, scale):
    """Nothing was taken from them: what is new gets workers of its own there."""
    answer = only(rebalanced(make, []), plan=scale)
    slots = list(zip(answer.executor_supervisor, answer.executor_port, strict=True))
    assert (slots[0], slots[2]) == ((0, 6700), (1, 6700))
    assert {port for _, port in slots} == {6700, 6701}
    assert [slots.count(slot) for slot in ((0, 6700), (1, 6700))] == [1, 1]
