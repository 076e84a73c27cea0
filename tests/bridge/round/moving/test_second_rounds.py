"""What a round has planned is left alone by the next one, whatever is priced and limited."""

from __future__ import annotations

import pytest

from bridge.round.memory import NOTHING
from bridge.round.planner import plan_round
from bridge.settings import MoveSettings, Settings
from tests.bridge.round.planner_rounds import stopped
from tests.bridge.round.random_rounds import random_request

WEIGHTS = (
    {"cost": 1.0},
    {"response_time": 0.5, "cost": 0.5},
    {"response_time": 0.4, "cost": 0.3, "migration": 0.3},
    {"response_time": 0.6, "migration": 0.4},
    {"response_time": 0.2, "availability": 0.2, "network_usage": 0.2, "cost": 0.2, "migration": 0.2},
)
STRATEGIES = ("auto", "greedy", "local-search")
MOST_ROUNDS = 12


def meta(chance):
    """What a host costs, how fast it is and loads."""
    return {
        "stormplace.cost": str(chance.randint(0, 9)),
        "stormplace.speedup": chance.choice(["0.5", "1", "2"]),
        "stormplace.pull.mb.per.sec": str(chance.randint(1, 50)),
    }


def priced(chance, components):
    """Prices, thresholds and what else does not limit a single round."""
    return {
        "weights": chance.choice(WEIGHTS),
        "strategy": chance.choice(STRATEGIES),
        "image.mb": chance.choice([0, 10, 100, 1000]),
        "state.mb": {name: chance.randint(0, 50) for name in components if chance.random() < 0.5},
        "cost.model": chance.choice(["per-executor", "per-host"]),
        **({"migration.scale": chance.choice([10, 1000])} if chance.random() < 0.5 else {}),
        **({"replan.gain.min": chance.choice([0, 0.02, 0.2])} if chance.random() < 0.5 else {}),
        **({"replan.horizon.secs": chance.choice([1, 60, 3600])} if chance.random() < 0.5 else {}),
    }


def limited(chance, components):
    """The same with budgets and limits, some of which a change exceeds that comes in several rounds then."""
    return priced(chance, components) | {
        **({"budget.cost.per.sec": chance.randint(5, 40)} if chance.random() < 0.5 else {}),
        **({"budget.migration": chance.randint(0, 200)} if chance.random() < 0.5 else {}),
        **({"replan.moves.max": chance.randint(1, 3)} if chance.random() < 0.5 else {}),
        **({"replan.workers.max": chance.randint(1, 2)} if chance.random() < 0.5 else {}),
        **({"replan.persistence": "pin"} if chance.random() < 0.2 else {}),
    }


def rounds_until_rest(make, request, move):
    """How many rounds change something, one after the other, until the first one that does not."""
    memory = NOTHING
    for number in range(MOST_ROUNDS):
        done = plan_round(request, Settings(move=move), stopped, memory=memory, now_s=10.0 * number)
        assert done.traces == ()
        following, memory = make.carried_out(request, done.response), done.memory
        if following == request:
            for later in range(3):
                again = plan_round(
                    request, Settings(move=move), stopped, memory=memory, now_s=10.0 * (number + 1 + later)
                )
                memory = again.memory
                assert make.carried_out(request, again.response) == request
            return number
        request = following
    pytest.fail(f"{MOST_ROUNDS} rounds do not come to rest")


@pytest.mark.parametrize("seed", range(14))
def test_a_second_round_moves_nothing(make, seed):
    """Where no limit cuts the first one short."""
    request = random_request(make, seed, priced, meta)
    move = MoveSettings(cool_down_s=0, stabilisation_s=0, min_gain=(0.0, 0.1)[seed % 2], min_gain_ms=0)
    assert rounds_until_rest(make, request, move) <= 1


@pytest.mark.parametrize("seed", range(1000, 1014))
def test_rounds_within_limits_come_to_rest(make, seed):
    """In parts, and within budgets of money and of restarts."""
    request = random_request(make, seed, limited, meta)
    move = MoveSettings(cool_down_s=0, stabilisation_s=0, min_gain=0.05, min_gain_ms=0)
    assert rounds_until_rest(make, request, move) < MOST_ROUNDS
