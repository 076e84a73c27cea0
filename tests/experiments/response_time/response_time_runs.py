"""Writes what a response-time experiment leaves, for rows whose way is known."""

from __future__ import annotations

import json
import shutil
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from experiments.response_time.report.turns import read_turns
from replay.analysis.measured_rows import CLOCK, STAMPS
from replay.analysis.sites import read_sites

if TYPE_CHECKING:
    from collections.abc import Sequence

    from experiments.response_time.report.turns import TurnData

SITES = Path(__file__).resolve().parents[3] / "lab" / "sites" / "response-time.toml"
COMPONENTS = (
    *("dataSource", "parser", "filterByCoordinates", "computeRouteID", "metronome"),
    *("countByWindow", "partialRank", "globalRank"),
)
HOME, NEAR, FAR = "uniroma2", "europe-west3", "us-east1"
BEST = (f"{HOME}-1", f"{HOME}-2", f"{HOME}-2", *(f"{NEAR}-1",) * 2, *(f"{HOME}-3",) * 2, f"{HOME}-1")
ABROAD = (f"{FAR}-1",) * 8
HOP_MS, WORK_MS, WAIT_MS, REDIS_MS = 1.5, 0.2, 3.0, 1.0
FAST, WARM_UP, MEASURED = 5, 5, 40
WARM_UP_MS = 10_000.0


def write_turn(
    out: Path,
    variant: str,
    hosts: Sequence[str],
    *,
    repetition: int = 1,
    slower_ms: float = 0.0,
    bound: float | None = 0.1,
    scheduler_status: str = "",
    wrong: str | None = None,
) -> Path:
    """Write what a turn leaves; each leg takes the network's delay and the constants above.

    The first turn makes the experiment's folder. F is 0.1.
    """
    if not (out / "sites.toml").is_file():
        out.mkdir(exist_ok=True)
        shutil.copyfile(SITES, out / "sites.toml")
        put(out / "experiment.json", {})
    sites = read_sites(SITES)
    folder = out / "turns" / f"{variant}-{repetition}"
    folder.mkdir(parents=True)
    where = dict(zip(COMPONENTS, hosts, strict=True))
    way = [name for name in COMPONENTS if name != "metronome"]
    now_us, stamps = 0.0, {}
    for before, after in pairwise(way):
        apart = where[before] != where[after]
        delay = sites.between_ms(sites.hosts[where[before]], sites.hosts[where[after]]) if apart else 0.0
        now_us += (HOP_MS + delay) * 1000
        stamps[f"{after}_in_us"] = now_us
        if after == "countByWindow":
            now_us += WAIT_MS * 1000
            stamps[CLOCK] = now_us
        now_us += WORK_MS * 1000
        stamps[f"{after}_out_us"] = now_us
    ends = [
        sites.between_ms(HOME, sites.hosts[where[name]]) + REDIS_MS for name in ("dataSource", "globalRank")
    ]
    results, trails = [], []
    for n in range(1, FAST + WARM_UP + MEASURED + 1):
        late_ms = slower_ms if n > FAST + WARM_UP else WARM_UP_MS
        row_ms = 1_000_000 + 100 * n
        emit_us = row_ms * 1000 + round((ends[0] + late_ms) * 1000)
        done_us = emit_us + round(stamps["globalRank_out_us"])
        result_ms = round(done_us / 1000 + ends[1])
        results.append([n, row_ms, emit_us, done_us, result_ms, int(n > FAST)])
        trails.append([n, *(round(stamps[name]) for name in (*STAMPS, CLOCK))])
    columns = ["n", "row_ms", "emit_us", "done_us", "result_ms", "paced"]
    pd.DataFrame(results, columns=columns).to_csv(folder / "results.csv", index=False)
    pd.DataFrame(trails, columns=["n", *STAMPS, CLOCK]).to_csv(folder / "trails.csv", index=False)
    executors = [
        {"component": c, "first_task": t, "last_task": t, "host": h, "port": 6700}
        for t, (c, h) in enumerate(where.items(), start=2)
    ]
    put(
        folder / "placement.json",
        {"id": "taxi-1", "executors": executors} | {"scheduler_status": scheduler_status},
    )
    differences = [] if wrong is None else [{"sentence": wrong}]
    put(folder / "verdict.json", {"equal": wrong is None, "differences": differences})
    ours = variant not in ("even", "default", "ras")
    counts = {"fast_rows": FAST, "warm_up_rows": WARM_UP, "measured_rows": MEASURED}
    origin = {"machine": "2 cores", "date": "2026-11-21", "commit": "abc123", "busy": 0.4}
    name = {"variant": variant, "repetition": repetition, "strategy": variant if ours else None}
    put(folder / "done.json", name | counts | origin | {"scheduler": "s", "rate": 10.0})
    if ours:
        plan = {"plan_ms": 7.0, "response_time_ms": 60.5, "objective": 0.1, "bound": bound}
        outcome = {"timed_out": False, "status": f"placed by {variant}", "hosts": {"2": "uniroma2-1"}}
        put(folder / "planned.json", plan | outcome)
    return folder


def put(path: Path, document: dict[str, Any]) -> None:
    path.write_text(json.dumps(document), encoding="utf-8")


def turns(out: Path) -> tuple[TurnData, ...]:
    return read_turns(out, read_sites(SITES))
