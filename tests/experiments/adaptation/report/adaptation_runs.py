"""Writes what an adaptation experiment leaves, for a course of response times that is known."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from experiments.adaptation.report.kept import EVENTS, ROUNDS, Event, PlannedRound, write_events, write_rounds
from replay.analysis.sites import read_sites

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

SITE_FILE = Path(__file__).resolve().parents[4] / "lab" / "sites" / "response-time.toml"
COMPONENTS = (
    *("dataSource", "parser", "filterByCoordinates", "computeRouteID", "metronome"),
    *("countByWindow", "partialRank", "globalRank"),
)
HOME, NEAR, NEXT, THIRD = "uniroma2", "europe-west3", "europe-west1", "europe-west4"
START_S, FAST, REJECT_EVERY = 1_800_000_000.0, 50, 50
ROUND_S, CALM_MS = 10.0, 56.0
FILE_ROWS = 10_004


def hosts_at(remote: str) -> dict[int, str | None]:
    """Place the query at home and one remote site, by first task; task 1 is the acker."""
    places = (f"{HOME}-2", f"{HOME}-1", f"{HOME}-2", f"{HOME}-3", *(f"{remote}-1",) * 2)
    places += (f"{remote}-2", f"{HOME}-3", f"{HOME}-1")
    return dict(enumerate(places, start=1))


@dataclass
class Course:
    """What happens in a scenario; times in seconds since its start.

    Attributes:
        duration_s: Length.
        rate: Rows per second.
        response_ms: Response time of a row by the time at which it is available; None: no result.
        events: What is done to the network.
        remotes: Remote site in use from a time on.
        gains: Gain of the move at a time; a move without one serves lost executors.
        seen: Delays as the planner sees them: pair and time to ms; None: the true delay of the site file.
        plan_ms: Time for planning.
    """

    duration_s: float = 600.0
    rate: float = 10.0
    response_ms: Callable[[float], float | None] = lambda _: CALM_MS
    events: Sequence[Event] = ()
    remotes: Mapping[float, str] = field(default_factory=lambda: {-1000.0: NEAR})
    gains: Mapping[float, float] = field(default_factory=dict)
    seen: Callable[[frozenset[str], float], float | None] = lambda *_: None
    plan_ms: float = 150.0


def event(kind: Any, at_s: float, *sites: str, delay_ms: float | None = None) -> Event:
    delays = () if delay_ms is None else ((*sites, delay_ms),)
    words = {"delay": f"delay {' - '.join(sites)}: now {delay_ms} ms", "noise": "all delays drawn anew"}
    text = words.get(kind, f"{', '.join(sites)}: {kind}")
    return Event(time_s=START_S + at_s, kind=kind, sites=sites, delay_ms=delay_ms, delays=delays, text=text)


def write_scenario(out: Path, name: str, course: Course, *, expected: bool = True) -> Path:
    """Write a finished scenario into an experiment's folder, and the expected answers beside it."""
    if not (out / "sites.toml").is_file():
        out.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(SITE_FILE, out / "sites.toml")
        put(out / "experiment.json", {"experiment": "adaptation"})
    folder = out / "turns" / name
    folder.mkdir(parents=True)
    paced = round(course.duration_s * course.rate)
    numbers = [n for n in range(1, FAST + paced + 1) if n % REJECT_EVERY]
    results = []
    for n in numbers:
        at_s = (n - FAST - 1) / course.rate if n > FAST else -30.0
        late_ms = course.response_ms(at_s)
        if late_ms is not None:
            row_ms = round((START_S + at_s) * 1000)
            results.append([n, row_ms, row_ms * 1000, row_ms * 1000, row_ms + round(late_ms), int(n > FAST)])
    columns = ["n", "row_ms", "emit_us", "done_us", "result_ms", "paced"]
    pd.DataFrame(results, columns=columns).to_csv(folder / "results.csv", index=False)
    put(folder / "summary.json", {"passed": len(numbers), "repeated": 0, "began": {}, "replayed": 0})
    if expected:
        (out / "expected").mkdir(exist_ok=True)
        passed = [n for n in range(1, FILE_ROWS + 1) if n % REJECT_EVERY]
        pd.DataFrame({"line": passed}).to_parquet(out / "expected" / "passed.parquet")
        put(out / "expected" / "summary.json", {})
    rounds = planned_rounds(course)
    write_rounds(folder / ROUNDS, rounds)
    write_events(folder / EVENTS, course.events)
    executors = [
        {"component": c, "first_task": t, "last_task": t, "host": rounds[-1].hosts[t], "port": 6700}
        for t, c in enumerate(("__acker", *COMPONENTS), start=1)
    ]
    put(folder / "placement.json", {"id": "taxi-1", "executors": executors})
    done = {"scenario": name, "rate": course.rate, "fast_rows": FAST, "paced_rows": paced, "home": HOME}
    done |= {"sites": list(read_sites(SITE_FILE).names), "settings": {"strategy": "ils"}, "busy": 0.3}
    done |= {"machine": "2 cores", "date": "2026-11-21", "commit": "abc123", "topology_id": "taxi-1"}
    put(folder / "done.json", done | {"started_s": START_S, "ended_s": START_S + course.duration_s + 0.2})
    return folder


def planned_rounds(course: Course) -> list[PlannedRound]:
    """Return a round each 10 s; the query is placed in the first and moves where the remote site changes."""
    sites = read_sites(SITE_FILE)
    found: list[PlannedRound] = []
    shown = [HOME, *dict.fromkeys(course.remotes.values())]
    for at_s in np.arange(-60.0, course.duration_s + ROUND_S, ROUND_S).tolist():
        remote = next(site for since, site in reversed(course.remotes.items()) if since <= at_s)
        hosts = hosts_at(remote)
        before = found[-1].hosts if found else {}
        moved = sum(host != before.get(task) for task, host in hosts.items())
        delays = []
        for number, a in enumerate(shown):
            for b in shown[number + 1 :]:
                seen_ms = course.seen(frozenset((a, b)), at_s)
                if seen_ms is None:
                    delays.append((a, b, sites.between_ms(a, b) * 1.02, "measured"))
                elif seen_ms >= 0:
                    delays.append((a, b, seen_ms, "coordinates"))
        gain = next((gain for time_s, gain in course.gains.items() if abs(time_s - at_s) < ROUND_S / 2), 0.0)
        found.append(
            PlannedRound(
                time_s=START_S + at_s,
                plan_ms=course.plan_ms if found else 480.0,
                timed_out=False,
                assigned=bool(moved),
                executors_moved=moved,
                workers_moved=2 * bool(moved and found),
                gain=gain,
                status="moved by ils for a gain of 34 %" if moved else "kept: no gain",
                response_time_ms=2 * sites.between_ms(HOME, remote) + 11.0,
                objective=0.1,
                bound=None,
                hosts=hosts,
                delays=tuple(delays),
            )
        )
    return found


def put(path: Path, document: dict[str, Any]) -> None:
    path.write_text(json.dumps(document), encoding="utf-8")
