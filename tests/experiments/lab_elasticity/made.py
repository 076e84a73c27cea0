"""A turn of the experiment on elasticity, made up: one item a second, with what the tests say of it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from experiments.folder_content import DONE, KIND, SETTINGS, TURNS
from experiments.lab_elasticity.kept import ITEMS, LEASES, LOOKS, LOOP_LOG, STATUS, ElasticityDone
from provisioning.providers.entry import Entry

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

START_S = 1_795_000_000.0
RUN_S = 240.0


def lease(number: int, ready_s: float | None, ended_s: float | None = None) -> Entry:
    """Return a lease of units of 120 s, by seconds since the start."""
    return Entry(
        number=number,
        request=f"r.{number}",
        offer="small",
        billing_unit_s=120.0,
        unit_cost=1.0,
        boot_s=20.0,
        leased_at_s=START_S,
        step="ended" if ended_s is not None else "ready",
        host=f"near-{number + 2}",
        ready_at_s=None if ready_s is None else START_S + ready_s,
        ended_at_s=None if ended_s is None else START_S + ended_s,
    )


@dataclass
class Made:
    """What a turn is like.

    Attributes:
        response_s: Of items by number; of the others 1 s. None: it never comes.
        twice: Items that come again.
        leases: Of hosts.
        changed_s: Rebalances, s since the start.
        expected_s: Pause that was expected of each, s.
        advice: What the status says of an advice; empty: there was none.
        done: What `done.json` has otherwise.
    """

    response_s: Mapping[int, float | None] = field(default_factory=dict)
    twice: tuple[int, ...] = ()
    leases: tuple[Entry, ...] = ()
    changed_s: tuple[float, ...] = ()
    expected_s: float = 1.2
    advice: Mapping[str, float] = field(default_factory=dict)
    done: Mapping[str, object] = field(default_factory=dict)


def made_done(policy: str, made: Made) -> ElasticityDone:
    """Return what the turn was."""
    content: dict[str, object] = {
        "policy": policy,
        "repetition": 1,
        "load": "steps",
        "run_s": RUN_S,
        "bound_s": 10.0,
        "billing_unit_s": 120.0,
        "fixed_hosts": 2,
        "static_hosts": 5,
        "busy": 0.5,
        "machine": "a machine",
        "date": "2026-01-01",
        "commit": "c0ffee",
    }
    return ElasticityDone.model_validate(content | dict(made.done))


def made_items(made: Made) -> dict[str, object]:
    """Return what was due and what came: ten items in the warm-up, then one a second."""
    due_us = [int((START_S + number - 10) * 1e6) for number in range(int(RUN_S) + 10)]
    came = []
    for number, at_us in enumerate(due_us):
        response_s = made.response_s.get(number, 1.0)
        if response_s is not None:
            came.append((number, at_us + int(response_s * 1e6)))
    came += [(number, due_us[number] + 30_000_000) for number in made.twice]
    return {
        "start_us": int(START_S * 1e6),
        "due_us": due_us,
        "arrived": sorted(came, key=lambda each: each[1]),
    }


def made_looks() -> list[dict[str, object]]:
    """Return what was seen, every five seconds."""
    return [
        {
            "time_s": START_S + at_s,
            "hosts": ["near-1", "near-2"],
            "executors": {"parse": 3 + at_s // 100, "report": 4, "source": 1, "sink": 1},
            "used": ["near-1"],
            "waiting": at_s,
        }
        for at_s in range(-10, int(RUN_S), 5)
    ]


def write_turn(folder: Path, policy: str, made: Made) -> Path:
    """Write a finished turn into an experiment's folder."""
    turn = folder / TURNS / f"{policy}-1"
    (turn / LEASES).parent.mkdir(parents=True)
    (folder / SETTINGS).write_text(json.dumps({KIND: "elasticity"}), encoding="utf-8")
    (turn / ITEMS).write_text(json.dumps(made_items(made)), encoding="utf-8")
    looks = "".join(json.dumps(each) + "\n" for each in made_looks())
    (turn / LOOKS).write_text(looks + '{"time_s": 17', encoding="utf-8")
    content = {"version": 1, "kind": "lab", "leases": [asdict(each) for each in made.leases]}
    (turn / LEASES).write_text(json.dumps(content), encoding="utf-8")
    if made.advice:
        status = {"advise": {"time": START_S, "held": "", "savings": dict(made.advice)}}
        (turn / STATUS).write_text(json.dumps(status), encoding="utf-8")
    events = [
        {"event": "rebalanced", "timestamp": _iso(each), "expected_pause_s": made.expected_s}
        for each in made.changed_s
    ]
    log = "".join(json.dumps(each) + "\n" for each in ({"event": "host-up", "timestamp": _iso(0.0)}, *events))
    (turn / LOOP_LOG).write_text(log + '{"event": "rebalanced", "time', encoding="utf-8")
    (turn / DONE).write_text(made_done(policy, made).model_dump_json(), encoding="utf-8")
    return turn


def _iso(at_s: float) -> str:
    return datetime.fromtimestamp(START_S + at_s, UTC).isoformat().replace("+00:00", "Z")
