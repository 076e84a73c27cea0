"""Made turns of the experiment on re-placement, as a lab would have left them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.adaptation.report.kept import PlannedRound, write_rounds
from experiments.replacement.cluster.kept import LabEvent, write_lab_events
from experiments.replacement.cluster.measured_moves import MeasuredMove, write_measured_moves

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

ROOT = Path(__file__).parents[4]
CHAIN = ROOT / "experiments" / "replacement" / "cluster" / "chain.json"
SITES = ROOT / "lab" / "sites" / "replacement.toml"
START_S = 1_000_000.0
SPACING_S = 2.0
LATER_S = 70.0
"""So much later a tuple comes once more."""
COMPONENTS = ("__acker", "o1", "o2", "o3", "o4", "sink", "source")
BEFORE = ("cloud-1", "cloud-1", "cloud-1", "cloud-2", "cloud-2", "fog-1", "fog-1")
AFTER = ("fog-2", "fog-1", "fog-2", "fog-2", "fog-2", "fog-1", "fog-1")
IN_CLOUD = ("cloud-2", "cloud-1", "cloud-1", "cloud-2", "cloud-2", "cloud-1", "cloud-1")


def hosts(placed: Sequence[str]) -> dict[int, str | None]:
    return dict(enumerate(placed, start=1))


def planned(at_s: float, placed: Sequence[str], **other: Any) -> PlannedRound:
    """A round that gave new slots, seconds after the first measured tuple."""
    usual: dict[str, Any] = {
        "plan_ms": 5.0,
        "timed_out": False,
        "assigned": True,
        "executors_moved": 5,
        "workers_moved": 2,
        "executors_restarted": 5,
        "gain": 0.5,
        "status": "moved by odr",
        "response_time_ms": 1290.0,
        "objective": 0.2,
        "bound": 0.2,
        "delays": (),
    }
    return PlannedRound(**usual | other, time_s=START_S + at_s, hosts=hosts(placed))


def write_turn(
    folder: Path,
    variant: str,
    *,
    response_s: Callable[[float], float | None],
    rounds: Sequence[PlannedRound],
    first: Sequence[str] = BEFORE,
    last: Sequence[str] = BEFORE,
    events: Sequence[LabEvent] = (),
    tuples: int = 100,
    work_s: Callable[[float], float] = lambda _: 1.85,
    again: Mapping[int, int] | None = None,
    measured_s: Mapping[float, tuple[float, float | None]] | None = None,
) -> Path:
    """Write a finished turn.

    Args:
        folder: The experiment's folder.
        variant: Its variant; the turn is the first of it.
        response_s: Response time of the tuple that was emitted so many seconds after the first; None: lost.
        rounds: The daemon's rounds.
        first: Hosts when the first tuple had come, as `COMPONENTS`.
        last: Hosts at the end.
        events: What was done to the lab.
        tuples: Tuples that were emitted.
        work_s: The operators' part of the response time.
        again: By number of a tuple how often it came once more.
        measured_s: What the daemon measured of moves, by when these were, likewise in seconds: until workers
            ran, and until executors worked; None as second in a log of before.
    """
    turn = folder / "turns" / f"{variant}-1"
    turn.mkdir(parents=True)
    for name, placed in (("first-placement.json", first), ("placement.json", last)):
        executors = [
            {"component": component, "first_task": task, "last_task": task, "host": host, "port": 6700}
            for task, (component, host) in enumerate(zip(COMPONENTS, placed, strict=True), start=1)
        ]
        (turn / name).write_text(json.dumps({"id": "chain-1", "executors": executors}), encoding="utf-8")
    (turn / "instance.json").write_bytes(CHAIN.read_bytes())
    lines = ["sink,n,path,emit_us,delay_us,work_us"]
    for number in range(1, tuples + 1):
        at_s = SPACING_S * (number - 1)
        came_s = response_s(at_s)
        if came_s is not None:
            for time in range(1 + (again or {}).get(number, 0)):
                times = (START_S + at_s, came_s + LATER_S * time, work_s(at_s))
                lines.append(f"sink,{number},1," + ",".join(f"{1e6 * each:.0f}" for each in times))
    (turn / "tuples.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    summary = {"workload": {"tuples": tuples}, "replayed": sum((again or {}).values())}
    (turn / "summary.json").write_text(json.dumps(summary), encoding="utf-8")
    write_rounds(turn / "rounds.jsonl", rounds)
    moves: list[dict[str, Any]] = []
    for at_s, (ran_s, worked_s) in (measured_s or {}).items():
        pause_s = {"predicted": 1.0, "measured": ran_s if worked_s is None else worked_s}
        until = {} if worked_s is None else {"workers_ran_s": ran_s, "pause_until": "work"}
        moves.append({"topology": "chain-1", "planned_unix_s": START_S + at_s, "pause_s": pause_s, **until})
    write_measured_moves(turn / "measured-moves.json", map(MeasuredMove.model_validate, moves))
    write_lab_events(turn / "events.json", events)
    done = {
        "variant": variant,
        "repetition": 1,
        "rate": 0.5,
        "tuples": tuples,
        "busy": 0.3,
        "restarts_per_round": 32,
        "machine": "m",
        "date": "2026-01-01",
        "commit": "c",
        "topology_id": "chain-1",
    }
    (turn / "done.json").write_text(json.dumps(done), encoding="utf-8")
    return turn


def event(kind: str, at_s: float, took_s: float = 1.0, failure: str | None = None) -> LabEvent:
    return LabEvent.model_validate(
        {"time_s": START_S + at_s, "kind": kind, "took_s": took_s, "failure": failure, "text": f"{kind} fog"}
    )
