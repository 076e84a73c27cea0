"""Rounds one after the other on a query that stands badly, each with what the one before knew."""

from __future__ import annotations

from dataclasses import replace

from bridge.round.memory import NOTHING
from bridge.round.planner import plan_round
from bridge.settings import MoveSettings, Settings
from bridge.wire.messages import Decision
from tests.bridge.round.planner_rounds import PINNED, SCATTERED


class Rounds:
    """Rounds one after the other, each on the result of the one before."""

    def __init__(self, request, **move):
        self.request = request
        self.settings = Settings(move=MoveSettings(**move))
        self.memory = NOTHING
        self.waits = {}

    def at(self, now_s, carry_out=True):
        done = plan_round(self.request, self.settings, lambda: 0.0, memory=self.memory, now_s=5000.0 + now_s)
        assert done.traces == ()
        self.memory, self.waits = done.memory, dict(done.waits)
        if carry_out:
            self.request = self.make_carried_out(done.response)
        return done.response.plans[0]

    def seen_s(self, now_s, carry_out=True):
        """For how long the gain of the first topology has been seen in the round at this time, and waits."""
        answer = self.at(now_s, carry_out)
        assert "a gain waits until it has been seen for 30 s" in answer.status
        return self.waits[answer.topology_id].seen_s

    def cooling_s(self, now_s):
        """For how long the first topology still cools down from the round at this time on."""
        answer = self.at(now_s)
        assert "a gain waits until 120 s after the last change" in answer.status
        return self.waits[answer.topology_id].cooling_s

    def make_carried_out(self, response):
        slots = {plan.topology_id: plan for plan in response.plans if plan.decision is Decision.ASSIGN}
        return replace(
            self.request,
            topologies=tuple(
                replace(
                    topology,
                    executor_supervisor=slots[topology.id].executor_supervisor,
                    executor_port=slots[topology.id].executor_port,
                )
                if topology.id in slots
                else topology
                for topology in self.request.topologies
            ),
        )


def scattered(make, topology_id="taxi-1", **settings):
    return make.assigned(make.taxi(topology_id, {**PINNED, **settings}), SCATTERED)


def at_one_point(make, request):
    """The same cluster with all hosts equally near: nothing can be gained."""
    near = tuple(make.reading(each.name, None, 0.0) for each in request.readings)
    return replace(request, readings=near)
