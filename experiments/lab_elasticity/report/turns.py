"""Reads the turns of the experiment on elasticity, checks what was lost, and writes them over time."""

from __future__ import annotations

import csv
import io
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from experiments.folder_content import DONE, finished_turns, read_model
from experiments.lab_elasticity.kept import (
    ITEMS,
    LEASES,
    LOOKS,
    LOOP_LOG,
    OUTCOME,
    STATUS,
    TIMELINE,
    ElasticityDone,
    Items,
    read_advice,
    read_changes,
    read_leases,
    read_looks,
)
from experiments.lab_elasticity.outcome import Outcome, Raw, outcome
from experiments.lab_elasticity.sizes import SERVICE_MS
from experiments.lab_elasticity.variants import POLICIES
from replay.output import write_json
from replay.pipeline import VERDICT

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from experiments.topologies.description import Say
    from provisioning.loop.report import Savings


@dataclass(frozen=True)
class ElasticityTurn:
    """A finished turn.

    Attributes:
        done: What it was.
        outcome: What came of it.
        advice: What the loop would have saved if it had been active; None: it was.
    """

    done: ElasticityDone
    outcome: Outcome
    advice: Savings | None = None


def read_turn(folder: Path) -> ElasticityTurn:
    """Read a finished turn.

    Raises:
        DataError: A kept file is missing or malformed.
    """
    done = read_model(ElasticityDone, folder / DONE)
    raw = Raw(
        done=done,
        items=read_model(Items, folder / ITEMS),
        looks=read_looks(folder / LOOKS),
        leases=read_leases(folder / LEASES),
        changes=read_changes(folder / LOOP_LOG),
    )
    return ElasticityTurn(done, outcome(raw), read_advice(folder / STATUS))


def read_turns(folder: Path) -> list[ElasticityTurn]:
    """Read all finished turns of an experiment, in their order.

    Raises:
        DataError: As `read_turn`; or no turn is finished.
    """
    found = [read_turn(turn) for turn in finished_turns(folder)]
    return sorted(found, key=lambda turn: (POLICIES.index(turn.done.policy), turn.done.repetition))


def verify(_expected: Path, runs: Sequence[Path], say: Say) -> bool:
    """Count what was lost and what came twice; write each turn's outcome as JSON, and over time as CSV."""
    complete = True
    for run in runs:
        turn = read_turn(run)
        found = turn.outcome
        write_json(run / OUTCOME, document(turn))
        (run / TIMELINE).write_text(timeline(found), encoding="utf-8")
        write_json(run / VERDICT, {"lost": found.lost, "twice": found.twice})
        say(f"{run.name}: {found.lost} items lost, {found.twice} came twice")
        complete &= found.lost == 0
    return complete


def document(turn: ElasticityTurn) -> dict[str, Any]:
    """Return a turn as JSON values, without what it was like over time."""
    content = asdict(turn.outcome)
    del content["windows"]
    content |= {
        "host_share": turn.outcome.host_share,
        "reconfigurations": len(turn.outcome.changes),
        "longest_pause_s": turn.outcome.longest_pause_s,
    }
    advice = None if turn.advice is None else turn.advice.figures()
    return {"done": turn.done.model_dump(mode="json"), "outcome": content, "advice": advice}


def timeline(found: Outcome) -> str:
    """Return a turn over time, CSV: a row for each window."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    names = ["from_s", "rate", "result_rate", "hosts", "waiting", "mean_s", "p95_s"]
    rows.writerow([*names, *SERVICE_MS])
    for each in found.windows:
        values = [getattr(each, name) for name in names]
        rows.writerow([*(f"{value:g}" for value in values), *(each.executors.get(k, 0) for k in SERVICE_MS)])
    return text.getvalue()
