"""One simulated run: a rule places scenario P in cycles, tuples go through it, and all figures come out."""

from __future__ import annotations

import json
import math
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from experiments.replacement.clairvoyant import Hindsight
from experiments.replacement.cycles import document_of, run_cycles
from experiments.replacement.load import arrivals
from experiments.replacement.placeholders import placeholders
from experiments.replacement.rules import GivenPlacements, OurRule, PaperRule, exact_ranges
from experiments.replacement.scenario import SCENARIO_P, read_scenario
from experiments.replacement.tuples import Moving, Pipeline, Stage, run_tuples
from scheduler.evaluation.evaluate import evaluate
from scheduler.instances.document import parse_instance
from scheduler.moving.rule import MoveRule

if TYPE_CHECKING:
    from experiments.replacement.cycles import Cycle, Run
    from experiments.replacement.load import Form
    from experiments.replacement.rules import Rule
    from experiments.replacement.scenario import Scenario
    from experiments.replacement.tuples import Traffic

RuleName = Literal["static", "paper", "ours", "hindsight"]
RULES: tuple[RuleName, ...] = get_args(RuleName)
Weights = Literal["equal", "response"]
WEIGHTS: dict[Weights, dict[str, float]] = {
    "equal": {"response_time": 0.25, "availability": 0.25, "cost": 0.25, "migration": 0.25},
    "response": {"response_time": 1.0},
}
ScenarioName = Literal["p", "table-2"]
_NEW_NODE = "fog-2"
_INSIDE = 0.945
"""Mean of what the paper's runtime serves as the availability of what is near."""
HORIZON_S = 3600.0
"""Time within which a plan of ours has to pay its price, s."""


@dataclass(frozen=True)
class Setting:
    """What a run is about.

    Attributes:
        rule: Who decides.
        scenario: `p`, or with a new node that is more available than the others, as Table II of the paper, in
            which the availability rises, asks for.
        weights: What is weighed.
        seed: Of readings and arrivals (>= 0).
        noisy: Whether availabilities are read as the paper's public runtime serves them, drawn anew.
        rate: Mean tuples per second (> 0).
        form: How the rate goes up and down.
        loses: Whether moves lose what waits, as on Storm.
    """

    rule: RuleName
    scenario: ScenarioName = "p"
    weights: Weights = "equal"
    seed: int = 0
    noisy: bool = True
    rate: float = 0.5
    form: Form = "sine"
    loses: bool = True


@dataclass(frozen=True)
class Outcome:
    """What came of a run; times in s, money in cost units.

    Attributes:
        setting: What it was about.
        at_s: Beginning of each cycle.
        end_s: End of the last one.
        response_s: R of the model in each cycle.
        cost: Of the nodes per second in each cycle.
        paid: Price of the moves of each cycle.
        score: 1 - F of the placement on the exact ranges of each cycle, as the paper reports it.
        moved: Operators moved in each cycle.
        means: Means over time by name of the metric.
        planner_per_s: What planning cost per second.
        total_per_s: Nodes, moves and planner per second.
        regret: F summed over the cycles, beyond the best that could have been done.
        latency_s: Mean, median and 95th percentile of the tuples' latency.
        replayed: How often a tuple was sent again.
    """

    setting: Setting
    at_s: tuple[float, ...]
    end_s: float
    response_s: tuple[float, ...]
    cost: tuple[float, ...]
    paid: tuple[float, ...]
    score: tuple[float, ...]
    moved: tuple[int, ...]
    means: dict[str, float]
    planner_per_s: float
    total_per_s: float
    regret: float
    latency_s: tuple[float, float, float]
    replayed: int


def simulate(setting: Setting) -> Outcome:
    """Run scenario P, each node paid once, under a rule."""
    scenario = scenario_of(setting.scenario, setting.weights)
    hindsight = Hindsight(scenario)
    reader = placeholders(np.random.default_rng(setting.seed)) if setting.noisy else _as_it_is
    frozen = setting.rule == "static"
    run = run_cycles(scenario, made_rule(setting.rule, scenario), frozen=frozen, read=reader)
    placements = [each.placement for each in run.cycles]
    traffic = let_through(scenario, run, setting)
    return Outcome(
        setting=setting,
        at_s=tuple(each.at_s for each in run.cycles),
        end_s=run.seconds,
        response_s=tuple(each.values["response_time"] / 1000.0 for each in run.cycles),
        cost=tuple(each.values["cost"] for each in run.cycles),
        paid=tuple(each.paid for each in run.cycles),
        score=tuple(_scores(scenario, run)),
        moved=tuple(len(each.moves) for each in run.cycles),
        means={name: run.mean(name) for name in ("response_time", "availability", "cost")},
        planner_per_s=run.planner / run.seconds,
        total_per_s=run.cost_per_s,
        regret=hindsight.total(placements) - hindsight.total(hindsight.best()),
        latency_s=_figures(traffic),
        replayed=traffic.replayed,
    )


def scenario_of(name: ScenarioName, weights: Weights) -> Scenario:
    """Return a scenario with its weights, each node paid once."""
    plain = read_scenario(SCENARIO_P)
    objective = {"weights": WEIGHTS[weights], "cost_model": "per-node"}
    instance = {**deepcopy(dict(plain.instance)), "objective": objective}
    if name == "table-2":
        (new,) = (node for node in instance["network"]["nodes"] if node["name"] == _NEW_NODE)
        new["availability"] = _INSIDE
    return replace(plain, instance=instance)


def let_through(scenario: Scenario, run: Run, setting: Setting) -> Traffic:
    """Let the tuples of a setting go through the placements of a run."""
    random = np.random.default_rng([setting.seed, 1])  # the same tuples under each rule
    entering = arrivals(setting.rate, setting.form, scenario.duration_s, random)
    streams = scenario.instance["application"]["streams"]
    operators = [each["name"] for each in scenario.instance["application"]["operators"]]
    targets = {name: tuple(each["to"] for each in streams if each["from"] == name) for name in operators}
    fed = {each["to"] for each in streams}
    pipeline = Pipeline(tuple(name for name in operators if name not in fed), targets)
    stages = [_stage(scenario, number, cycle) for number, cycle in enumerate(run.cycles)]
    return run_tuples(pipeline, stages, entering, Moving(loses=setting.loses))


def made_rule(name: RuleName, scenario: Scenario) -> Rule:
    """Return a rule for one run; Static is the paper's, which plans only once then."""
    if name == "hindsight":
        return GivenPlacements(Hindsight(scenario).best())
    if name == "ours":
        return OurRule(MoveRule(horizon_s=HORIZON_S), scenario.cycle_s)
    return PaperRule("source")


def _as_it_is(_document: dict[str, Any], _cycle: int) -> None:
    """Read what is true."""


def _stage(scenario: Scenario, number: int, cycle: Cycle) -> Stage:
    document = document_of(scenario, number, None)
    nodes = {each["name"]: place for place, each in enumerate(document["network"]["nodes"])}
    speed = [each["speedup"] for each in document["network"]["nodes"]]
    delay_ms = document["network"]["delay_ms"]
    at = {name: nodes[node] for name, node in cycle.placement.items()}
    service = {
        each["name"]: each["execution_time_ms"] / speed[at[each["name"]]] / 1000.0
        for each in document["application"]["operators"]
    }
    delays = {
        (each["from"], each["to"]): delay_ms[at[each["from"]]][at[each["to"]]] / 1000.0
        for each in document["application"]["streams"]
    }
    # all that comes to a node at once shares its rate, so that it is there at the same time
    to_node: dict[str, float] = {}
    for move in cycle.moves:
        to_node[move.target] = to_node.get(move.target, 0.0) + move.pull_s
    return Stage(cycle.at_s, service, delays, {move.operator: to_node[move.target] for move in cycle.moves})


def _scores(scenario: Scenario, run: Run) -> list[float]:
    """Return the paper's score of each cycle: on exact ranges of that cycle, from what is true."""
    scores: list[float] = []
    ranges: dict[str, dict[str, list[float]]] = {}
    before = None
    for number, cycle in enumerate(run.cycles):
        document = document_of(scenario, number, before)
        document["objective"]["migration_price"] = "source"
        text = json.dumps(document)
        if text not in ranges:  # most cycles are like the one before
            ranges[text] = exact_ranges(document)
        document["objective"]["range"] = ranges[text]
        problem = parse_instance(document)
        index = problem.network.index
        places = np.array([index[cycle.placement[each.name]] for each in problem.application.operators])
        scores.append(1.0 - evaluate(problem, places).objective)
        before = cycle.placement
    return scores


def _figures(traffic: Traffic) -> tuple[float, float, float]:
    if not traffic.latency_s.size:
        return math.nan, math.nan, math.nan
    median, late = np.percentile(traffic.latency_s, [50, 95])
    return float(traffic.latency_s.mean()), float(median), float(late)
