"""Plans and statuses of topologies that state no prices, budgets or limits are what they have always been.

The file was written before there were any; write it anew only if a change of such plans is wanted.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bridge.round.memory import NOTHING
from bridge.round.planner import plan_round
from bridge.settings import MoveSettings, Settings
from tests.bridge.round.planner_rounds import stopped
from tests.bridge.round.random_rounds import random_request

GOLDEN = Path(__file__).parent / "golden_rounds.json"
WEIGHTS = (
    {"response_time": 1.0},
    {"response_time": 0.5, "cost": 0.5},
    {"response_time": 0.4, "availability": 0.3, "network_usage": 0.3},
    {"response_time": 0.5, "migration": 0.5},
    {"cost": 1.0},
)
MOVES = (
    MoveSettings(cool_down_s=0, stabilisation_s=0),
    MoveSettings(cool_down_s=0, stabilisation_s=0, min_gain=0.0, min_gain_ms=0.0, max_restarts_per_round=3),
    MoveSettings(stabilisation_s=10, noise_sigmas=1.0),
)
CASES = range(24)


def settings(chance, components):
    """What there was before: a strategy, weights, a pin, a frozen topology."""
    own = {"weights": chance.choice(WEIGHTS), "strategy": chance.choice(["auto", "greedy", "local-search"])}
    if chance.random() < 0.3:
        own["pin"] = {components[0]: "site:rome"}
    if chance.random() < 0.1:
        own["frozen"] = True
    return own


def answers(make, seed):
    """What three rounds answer, ten seconds apart: per topology its decision, slots and status."""
    costs = seed % 3 > 0
    request = random_request(
        make, seed, settings, lambda chance: {"stormplace.cost": str(chance.randint(1, 9))} if costs else {}
    )
    memory, found = NOTHING, []
    for number in range(3):
        done = plan_round(
            request, Settings(move=MOVES[seed % len(MOVES)]), stopped, memory=memory, now_s=10.0 * number
        )
        assert done.traces == ()
        found.append(
            [
                [
                    plan.decision.name,
                    list(plan.executor_supervisor),
                    list(plan.executor_port),
                    without_price(plan.status),
                ]
                for plan in done.response.plans
            ]
        )
        request, memory = make.carried_out(request, done.response), done.memory
    return found


def without_price(status):
    """A status as it was before it began with the short form of the price list."""
    price, _, rest = status.partition(" (default); ")
    if not rest:
        return price
    return f"moved {rest}" if rest.startswith("by ") else rest


@pytest.mark.parametrize("seed", CASES)
def test_rounds_answer_as_ever(make, seed):
    """Decisions, slots and statuses of three rounds."""
    assert answers(make, seed) == json.loads(GOLDEN.read_text(encoding="utf-8"))[seed]
