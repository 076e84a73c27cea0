"""Settings and kept turns of the experiment over three tiers, for rows whose way is known."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from experiments.lab_tiers.lab_tiers_settings import LabTiersSettings
from experiments.lab_tiers.variants import VARIANTS
from replay.analysis.measured_rows import CLOCK, STAMPS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SITES = Path(__file__).parents[3] / "lab" / "sites" / "tiers.toml"
NAMES = ("edge-a", "edge-b", "fog-a", "fog-b", "cloud-a", "cloud-b")
COMPONENTS = (
    *("dataSource", "parser", "filterByCoordinates", "computeRouteID", "metronome"),
    *("countByWindow", "partialRank", "globalRank"),
)
IN_THE_FOG = ("edge-a-1", *("fog-a-1",) * 3, *("fog-a-2",) * 3, "edge-a-1")
IN_THE_CLOUD = ("edge-a-1", *("cloud-a-1",) * 3, *("cloud-a-2",) * 3, "edge-a-1")
FAST, WARM_UP, MEASURED, RATE = 10, 10, 200, 10.0
STARTED_S, FED_S = 1000.0, 1021.0


def settings(data: Path, **changes: Any) -> LabTiersSettings:
    usual: dict[str, Any] = {
        "rate": 100.0,
        "overload_rate": 250.0,
        "together": 10,
        "first_rows": 20,
        "warm_up_s": 0.2,
        "rest_s": 0.0,
        "settle_s": 0.0,
    }
    return LabTiersSettings(data, changes.pop("sites", SITES), **usual | changes)


@dataclass(frozen=True)
class Made:
    """What a turn is made of.

    Attributes:
        hosts: Host of each component.
        ms: Response time of the first measured row.
        growth_ms: By how much it grows from row to row.
        background: Bytes per second over each uplink while no row comes.
        rows: The same of the rows, by site.
        planned: What was planned, by site; None: by rates that were declared.
        dropped: Packets dropped before the first uplink.
        costs: What the status line states: P and Q.
        verdict: The first difference of the answers, or empty.
    """

    hosts: Sequence[str] = IN_THE_FOG
    ms: float = 50.0
    growth_ms: float = 0.0
    background: float = 2000.0
    rows: Mapping[str, float] | None = None
    planned: Mapping[str, float] | None = None
    measured: bool = True
    dropped: int = 0
    costs: tuple[float, float] = (180.0, 10.0)
    verdict: str = ""


def write_turn(out: Path, variant: str, made: Made) -> None:
    """Write what a turn leaves; the first one makes the experiment's folder."""
    if not (out / "sites.toml").is_file():
        out.mkdir(exist_ok=True)
        shutil.copyfile(SITES, out / "sites.toml")
        _put(out / "experiment.json", {"experiment": "lab-tiers"})
    folder = out / "turns" / f"{variant}-1"
    folder.mkdir(parents=True)
    known = next(each for each in VARIANTS if each.name == variant)
    _rows(folder, made)
    executors = [
        {"component": c, "first_task": t, "last_task": t, "host": h, "port": 6700}
        for t, (c, h) in enumerate(zip(COMPONENTS, made.hosts, strict=True), start=2)
    ]
    _put(folder / "placement.json", {"id": "taxi-1", "executors": executors})
    differences = [{"sentence": made.verdict}] if made.verdict else []
    _put(folder / "verdict.json", {"equal": not made.verdict, "differences": differences})
    done = {"variant": variant, "repetition": 1, "scheduler": known.scheduler, "strategy": known.strategy}
    done |= {"rate": RATE, "fast_rows": FAST, "warm_up_rows": WARM_UP, "measured_rows": MEASURED, "busy": 0.4}
    done |= {"machine": "2 cores", "date": "2026-11-27", "commit": "abc123", "together": 1}
    done |= {"overload": known.overload, "stated": known.stated, "started_s": STARTED_S, "fed_s": FED_S}
    _put(folder / "done.json", done)
    _put(folder / "uplinks.json", _uplinks(made))
    if known.strategy is not None:
        places, links = made.costs
        worth = f"F 95.0000, 31.0 ms response time, placement cost {places:g}, link cost {links:g} on 3 hosts"
        status = f"placed by {known.strategy}: {worth}"
        plan = {"plan_ms": 7.0, "response_time_ms": 31.0, "objective": 95.0, "bound": None}
        _put(folder / "planned.json", plan | {"timed_out": False, "status": status, "hosts": {}})
        planned = dict.fromkeys(NAMES, 0.0) | dict(made.planned or {})
        flows = {"time_s": STARTED_S, "measured": made.measured, "bytes_per_s": planned}
        _put(folder / "flows.json", flows)


def _rows(folder: Path, made: Made) -> None:
    results, trails = [], []
    for n in range(1, FAST + WARM_UP + MEASURED + 1):
        row_ms = 1_000_000 + 100 * n
        took_ms = made.ms + made.growth_ms * max(n - FAST - WARM_UP, 0)
        emit_us, done_us = row_ms * 1000 + 1000, int((row_ms + took_ms - 1) * 1000)
        results.append([n, row_ms, emit_us, done_us, int(row_ms + took_ms), int(n > FAST)])
        stamps = [(done_us - emit_us) * k // (len(STAMPS) + 1) for k in range(1, len(STAMPS) + 1)]
        trails.append([n, *stamps, stamps[7]])
    columns = ["n", "row_ms", "emit_us", "done_us", "result_ms", "paced"]
    pd.DataFrame(results, columns=columns).to_csv(folder / "results.csv", index=False)
    pd.DataFrame(trails, columns=["n", *STAMPS, CLOCK]).to_csv(folder / "trails.csv", index=False)


def _uplinks(made: Made) -> dict[str, Any]:
    passing = {name: made.background + (made.rows or {}).get(name, 0.0) for name in NAMES}

    def sample(time_s: float, per_s: Mapping[str, float], dropped: int = 0) -> dict[str, Any]:
        passed = {name: round(each * (time_s - 900.0)) for name, each in per_s.items()}
        return {"time_s": time_s, "passed": passed, "dropped": dict.fromkeys(NAMES, 0) | {"edge-a": dropped}}

    calm = dict.fromkeys(NAMES, made.background)
    moments = [STARTED_S + 2.0 * k for k in range(10)]
    paced = [sample(each, passing, made.dropped if each > STARTED_S + 10 else 0) for each in moments]
    idle = [sample(each, dict.fromkeys(NAMES, made.background / 2)) for each in (960.0, 990.0)]
    return {"idle": idle, "paced": paced, "still": [sample(each, calm) for each in (1030.0, 1060.0)]}


def _put(path: Path, document: dict[str, Any]) -> None:
    path.write_text(json.dumps(document), encoding="utf-8")
