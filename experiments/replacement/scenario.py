"""What happens while a topology is placed again and again: its instance, the cycle, when nodes join."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scheduler.base.checks import ModelError, number
from scheduler.instances.document import parse_instance

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

SCENARIO_P = Path(__file__).with_name("scenario-p.json")
"""The setting of paper 001's experiment, with our values where it states none (docs/replacement.md)."""


@dataclass(frozen=True)
class TrueChange:
    """Something that becomes true in the middle of a run.

    Attributes:
        at_s: When, s from the start.
        apply: Changes the instance document with all nodes.
    """

    at_s: float
    apply: Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class Scenario:
    """A run of cycles of equal length; the last one may be cut short.

    Attributes:
        instance: Instance document with all nodes that ever join, without a current placement.
        cycle_s: Time from one plan to the next, s (> 0).
        duration_s: Of the run, s (> 0).
        joins_s: By name of a node, when it joins, s; the others are there from the start.
        planner_cost_per_s: What a planner costs while it runs, in cost units per second (>= 0).
        changes: What becomes true later, in the order of time.
        away_s: By name of a node, times in which it is not there although it has joined, as (from, until), s;
            they are announced.
        load: By what factor the streams' rates differ from the instance's, as (from, factor) in the order of
            time, in s; before the first they do not.
    """

    instance: Mapping[str, Any]
    cycle_s: float
    duration_s: float
    joins_s: Mapping[str, float]
    planner_cost_per_s: float
    changes: Sequence[TrueChange] = ()
    away_s: Mapping[str, Sequence[tuple[float, float]]] = field(default_factory=dict)
    load: Sequence[tuple[float, float]] = ()

    def __post_init__(self) -> None:
        number("cycle_s", self.cycle_s, above=0.0)
        number("duration_s", self.duration_s, above=0.0)
        number("planner_cost_per_s", self.planner_cost_per_s)
        for node, at_s in self.joins_s.items():
            number(f"joins_s.{node}", at_s)
        for node, times in self.away_s.items():
            for k, (begin_s, end_s) in enumerate(times):
                number(f"away_s.{node}[{k}]", end_s, above=number(f"away_s.{node}[{k}]", begin_s))
        for k, (begin_s, factor) in enumerate(self.load):
            number(f"load[{k}]", begin_s, least=self.load[k - 1][0] if k else 0.0)
            number(f"load[{k}]", factor)
        known = parse_instance(self.instance).network.index
        for key, named in (("joins_s", self.joins_s), ("away_s", self.away_s)):
            for node in named:
                if node not in known:
                    raise ModelError(f"{key}.{node}", "the instance has no such node")

    @property
    def n_cycles(self) -> int:
        """How many cycles begin before the end."""
        return math.ceil(self.duration_s / self.cycle_s)

    def start_s(self, cycle: int) -> float:
        """Return when a cycle begins, s from the start."""
        return cycle * self.cycle_s

    def seconds(self, cycle: int) -> float:
        """Return how long what was planned in a cycle is in force."""
        return min(self.cycle_s, self.duration_s - self.start_s(cycle))

    def changed(self, document: dict[str, Any], cycle: int) -> dict[str, Any]:
        """Make what has changed by a cycle true in the document of all nodes, and return it."""
        for change in self.changes:
            if change.at_s <= self.start_s(cycle):
                change.apply(document)
        for stream in document["application"]["streams"]:
            stream["rate"] *= self.load_factor(cycle)
        return document

    def load_factor(self, cycle: int) -> float:
        """Return by what factor rates differ from the instance's when a cycle begins."""
        begun = [factor for begin_s, factor in self.load if begin_s <= self.start_s(cycle)]
        return begun[-1] if begun else 1.0

    def nodes(self, cycle: int) -> list[int]:
        """Return the indices of the nodes that are there when a cycle begins."""
        now_s = self.start_s(cycle)
        return [
            u
            for u, node in enumerate(self.instance["network"]["nodes"])
            if self.joins_s.get(node["name"], 0.0) <= now_s
            and not any(begin_s <= now_s < end_s for begin_s, end_s in self.away_s.get(node["name"], ()))
        ]


def read_scenario(path: Path) -> Scenario:
    """Read a scenario of the project's own: a JSON object with a key per attribute of `Scenario`."""
    return Scenario(**json.loads(path.read_text(encoding="utf-8")))
