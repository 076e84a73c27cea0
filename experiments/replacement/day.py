"""A day on which planning one step ahead is worse: load by the hour, and a node that leaves for an hour.

At noon queues keep the slow operators off the cheap nodes, at night they do not; shortly after the evening
has made the cheapest node attractive it is away for an hour, as announced. Readings are exact here: what is
compared is what rules know of the time to come.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from experiments.replacement.clairvoyant import Hindsight
from experiments.replacement.cycles import run_cycles
from experiments.replacement.rolling_rule import RollingRule
from experiments.replacement.rules import GivenPlacements, OurRule, PaperRule
from experiments.replacement.scenario import read_scenario
from experiments.replacement.simulation import HORIZON_S
from scheduler.moving.rule import MoveRule

if TYPE_CHECKING:
    from experiments.replacement.rules import Rule
    from experiments.replacement.scenario import Scenario

SCENARIO_DAY = Path(__file__).with_name("scenario-day.json")

DayRule = Literal["paper", "ours", "rolling", "rolling, forecast wrong", "hindsight"]
DAY_RULES: tuple[DayRule, ...] = get_args(DayRule)
_WRONG: DayRule = "rolling, forecast wrong"
LOOK_AHEAD_S = 6 * 3600.0
"""How far the rolling horizon looks, s."""
WRONG_BY = 0.25
"""Part of the true load by which a wrong forecast is off at most, in each cycle anew."""


@dataclass(frozen=True)
class Day:
    """What came of a day; times in s, money in cost units.

    Attributes:
        rule: Who decided.
        seed: Of a wrong forecast.
        regret: F summed over the cycles, beyond the best that could have been done.
        moved: Operators moved.
        cycles_with_moves: In how many cycles.
        response_s: Mean R of the model.
        cost_per_s: Of nodes and moves.
    """

    rule: DayRule
    seed: int
    regret: float
    moved: int
    cycles_with_moves: int
    response_s: float
    cost_per_s: float


def days(seeds: int) -> list[tuple[DayRule, int]]:
    """Return rule and seed of each run of the day: of those that chance changes, as many as seeds."""
    return [(rule, seed) for rule in DAY_RULES for seed in range(seeds if rule == _WRONG else 1)]


def day(rule: DayRule, seed: int = 0, scenario: Scenario | None = None) -> Day:
    """Run the day under a rule.

    Args:
        rule: Who decides.
        seed: Of what a wrong forecast says; the others do not depend on it.
        scenario: Another one than the day.
    """
    if scenario is None:
        scenario = read_scenario(SCENARIO_DAY)
    hindsight = Hindsight(scenario)
    run = run_cycles(scenario, _rule(rule, scenario, hindsight, seed))
    placements = [each.placement for each in run.cycles]
    return Day(
        rule=rule,
        seed=seed,
        regret=hindsight.total(placements) - hindsight.total(hindsight.best()),
        moved=run.moved,
        cycles_with_moves=run.cycles_with_moves,
        response_s=run.mean("response_time") / 1000.0,
        cost_per_s=run.cost_per_s,
    )


def _rule(name: DayRule, scenario: Scenario, hindsight: Hindsight, seed: int) -> Rule:
    if name == "paper":
        return PaperRule("source")
    if name == "ours":
        return OurRule(MoveRule(horizon_s=HORIZON_S), scenario.cycle_s)
    if name == "hindsight":
        return GivenPlacements(hindsight.best())
    if name == "rolling":
        return RollingRule(scenario, LOOK_AHEAD_S)
    off = np.random.default_rng(seed).uniform(1.0 - WRONG_BY, 1.0 + WRONG_BY, scenario.n_cycles)
    return RollingRule(scenario, LOOK_AHEAD_S, expected=lambda factor, cycle: factor * float(off[cycle]))
