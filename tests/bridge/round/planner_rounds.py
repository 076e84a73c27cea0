"""What the tests of whole rounds share: places of the taxi query, and a round without a clock."""

from __future__ import annotations

from bridge.round.planner import plan_round
from bridge.settings import MoveSettings, Settings

PINNED = {"pin": {"dataSource": "site:uniroma2", "globalRank": "site:uniroma2"}}
# Hosts: 0-2 uniroma2, 3-4 europe-west1, 5-6 us-east1; few long hops, then many of them.
GOOD = [0, 0, 1, 1, 2, 2, 3, 3]
SCATTERED = [0, 5, 3, 6, 4, 5, 3, 1]
AT_ONCE = MoveSettings(cool_down_s=0, stabilisation_s=0)


def stopped():
    """A clock on which no time passes."""
    return 0.0


def plan(request, move=AT_ONCE, **sections):
    """The round with settings by section."""
    return plan_round(request, Settings(move=move, **sections), stopped)


def only(request, **sections):
    """The plan of the first topology of a round in which nothing went wrong."""
    done = plan(request, **sections)
    assert done.traces == ()
    return done.response.plans[0]


def hosts_of(request, answer):
    """The host of each executor."""
    return [request.supervisors[index].host for index in answer.executor_supervisor]
