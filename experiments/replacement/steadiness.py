"""Does a rule move when nothing real changes, and does it follow when something does?

Scenario P without the node that joins runs where it is best, while availabilities are read as the paper's
public runtime serves them.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from experiments.replacement.clairvoyant import Hindsight
from experiments.replacement.cycles import run_cycles
from experiments.replacement.placeholders import placeholders
from experiments.replacement.scenario import TrueChange
from experiments.replacement.simulation import made_rule, scenario_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from experiments.replacement.scenario import Scenario
    from experiments.replacement.simulation import RuleName

_CHANGES_AT = 5
"""Cycle in which something real changes."""
WITHIN = 3
"""Cycles within which a change has to be followed."""
LEAST_CHANGE = 0.2
"""Part of F that a real change makes worth gaining."""
_LEAST_GAIN = 0.02
Shown = Literal["exact", "noisy"]
"""By what a change shows: by a speed or a delay, or by nothing but an availability."""
SHOWN: tuple[Shown, ...] = get_args(Shown)


@dataclass(frozen=True)
class Calm:
    """A run in which nothing real changes.

    Attributes:
        rule: Who decided.
        seed: Of the readings.
        moved: Cycles in which something moved, without the first, in which our rule never moves for gains.
        cycles: How many these are.
    """

    rule: RuleName
    seed: int
    moved: int
    cycles: int


@dataclass(frozen=True)
class Followed:
    """A run in which something real changes.

    Attributes:
        shown: By what it shows.
        seed: Of the change and the readings.
        gain: Part of F that there was to gain, at least `LEAST_CHANGE`.
        after: Cycles from the change until at least half of that was gained; None: not within the run.
    """

    shown: Shown
    seed: int
    gain: float
    after: int | None


def calm(rule: RuleName, seed: int) -> Calm:
    """Run scenario P without the node that joins, on readings that only seem to change."""
    scenario, start = _still()
    run = run_cycles(scenario, made_rule(rule, scenario), start=start, read=_reader(seed))
    open_to_moves = run.cycles[1:]
    return Calm(rule, seed, sum(bool(each.moves) for each in open_to_moves), len(open_to_moves))


def followed(shown: Shown, seed: int) -> Followed:
    """Run the same with the first random change that is worth at least `LEAST_CHANGE`."""
    scenario, start = _still()
    random = np.random.default_rng([seed, 2])
    gain, before = 0.0, 1.0
    while gain < max(_LEAST_GAIN, LEAST_CHANGE * before):
        change = TrueChange(scenario.start_s(_CHANGES_AT), _CHANGES[shown](random))
        changed = deepcopy(dict(scenario.instance))
        change.apply(changed)
        after = Hindsight(replace(scenario, instance=changed, duration_s=scenario.cycle_s), start)
        before = after.worth(0, start)
        gain = before - after.least(0)
    scenario = replace(scenario, changes=(change,))
    run = run_cycles(scenario, made_rule("ours", scenario), start=start, read=_reader(seed))
    halfway = before - gain / 2.0
    there = (
        number - _CHANGES_AT
        for number, cycle in enumerate(run.cycles)
        if number >= _CHANGES_AT and after.worth(0, cycle.placement) <= halfway
    )
    return Followed(shown, seed, gain / before, next(there, None))


def _still() -> tuple[Scenario, Mapping[str, str]]:
    plain = scenario_of("p", "equal")
    scenario = replace(plain, joins_s=dict.fromkeys(plain.joins_s, 2.0 * plain.duration_s))
    best = run_cycles(replace(scenario, duration_s=scenario.cycle_s)).cycles[0].placement
    return scenario, best


def _reader(seed: int) -> Any:
    return placeholders(np.random.default_rng(seed))


def _slowdown(random: np.random.Generator) -> Callable[[dict[str, Any]], None]:
    """Return what makes a node of the cloud slower, or puts both farther apart."""
    slower, factor = int(random.integers(3)), float(random.uniform(1.2, 4.0))

    def apply(document: dict[str, Any]) -> None:
        network = document["network"]
        if slower < 2:
            network["nodes"][slower]["speedup"] /= factor
        else:
            network["delay_ms"][0][1] = network["delay_ms"][1][0] = 200.0 * factor

    return apply


def _less_available(random: np.random.Generator) -> Callable[[dict[str, Any]], None]:
    """Return what makes a node of the cloud less available."""
    which, availability = int(random.integers(2)), float(random.uniform(0.5, 0.85))

    def apply(document: dict[str, Any]) -> None:
        document["network"]["nodes"][which]["availability"] = availability

    return apply


_CHANGES: Mapping[Shown, Callable[[np.random.Generator], Callable[[dict[str, Any]], None]]] = {
    "exact": _slowdown,
    "noisy": _less_available,
}
