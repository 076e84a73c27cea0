"""A course of the scenario `changes` that is known, and what the report reads from kept files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from experiments.adaptation.report.adaptation_goals import targets
from experiments.adaptation.report.finished_scenario import ScenarioData, read_scenario
from experiments.adaptation.report.phases import find_phases
from replay.analysis.sites import read_sites
from tests.experiments.adaptation.report.adaptation_runs import (
    CALM_MS,
    HOME,
    NEAR,
    NEXT,
    SITE_FILE,
    THIRD,
    Course,
    event,
)

if TYPE_CHECKING:
    from pathlib import Path

    from experiments.adaptation.report.phases import Phase

SITES = read_sites(SITE_FILE)
EVENTS = (
    event("delay", 60.0, HOME, NEAR, delay_ms=66.0),
    event("isolate", 160.0, NEXT),
    event("rejoin", 260.0, NEXT),
)


def response_ms(at_s: float) -> float | None:
    """Triples at 60 s until a move at 100 s, which takes 8 s; a lost site at 160 s costs 45 s of silence."""
    if 60 <= at_s < 100:
        return 144.0
    if 100 <= at_s < 108:
        return 60.0 + (108 - at_s) * 1000
    if 160 <= at_s < 162:
        return None
    if 162 <= at_s < 205:
        return 70.0 + (205 - at_s) * 1000
    return 68.0 if at_s >= 108 else CALM_MS


def seen(pair: frozenset[str], at_s: float) -> float | None:
    """A third of the change is known at 70 s, all of it at 80 s; the lost site is gone from 180 s on."""
    if pair == {HOME, NEAR} and at_s >= 70:
        return 22.0 + (44.0 if at_s >= 80 else 14.0)
    return -1.0 if NEXT in pair and 180 <= at_s < 290 else None


CHANGES = Course(
    duration_s=340.0,
    response_ms=response_ms,
    events=EVENTS,
    remotes={-100.0: NEAR, 100.0: NEXT, 190.0: THIRD},
    gains={100.0: 0.34},
    seen=seen,
)


def scenario(out: Path, name: str) -> ScenarioData:
    return read_scenario(out / "turns" / name, SITES, out / "expected")


def phases(out: Path) -> tuple[Phase, ...]:
    return find_phases(scenario(out, "changes"), SITES)


def reached(out: Path, *names: Any) -> dict[str, bool | None]:
    scenarios = {name: scenario(out, name) for name in names}
    found = targets(scenarios, phases(out) if "changes" in names else ())
    return {target.text: target.reached for target in found}
