"""Reads the turns of the experiment on elasticity, checks what was lost, and writes them over time."""

from __future__ import annotations

import csv
import io
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

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
from experiments.lab_elasticity.variants import POLICIES
from experiments.lab_elasticity.workloads.chosen import BY_NAME
from replay.output import write_json
from replay.pipeline import VERDICT

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from experiments.topologies.description import Say
    from provisioning.loop.report import Savings


class Verdict(BaseModel):
    """What `verdict.json` says of a turn.

    Attributes:
        lost: Items that never came.
        twice: Items that came more than once.
        answers: Whether there were answers to compare.
        wrong: What is wrong with them; None: nothing.
    """

    lost: int
    twice: int
    answers: bool = False
    wrong: str | None = None


@dataclass(frozen=True)
class ElasticityTurn:
    """A finished turn.

    Attributes:
        done: What it was.
        outcome: What came of it.
        advice: What the loop would have saved if it had been active; None: it was.
        verdict: What was lost and what is wrong; None: answers have not been compared.
    """

    done: ElasticityDone
    outcome: Outcome
    advice: Savings | None = None
    verdict: Verdict | None = None


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
    verdict = read_model(Verdict, folder / VERDICT) if (folder / VERDICT).is_file() else None
    return ElasticityTurn(done, outcome(raw), read_advice(folder / STATUS), verdict)


def read_turns(folder: Path) -> list[ElasticityTurn]:
    """Read all finished turns of an experiment, in their order.

    Raises:
        DataError: As `read_turn`; or no turn is finished.
    """
    found = [read_turn(turn) for turn in finished_turns(folder)]
    return sorted(found, key=lambda turn: (POLICIES.index(turn.done.policy), turn.done.repetition))


def verify(expected: Path, runs: Sequence[Path], say: Say) -> bool:
    """Count what was lost and what came twice, compare answers, and write each turn's outcome.

    Args:
        expected: Folder for the expected answers.
        runs: Finished turns, of one workload.
        say: Receives a line for each.
    """
    turns = [read_turn(run) for run in runs]
    right = True
    workload = BY_NAME[turns[0].done.workload]
    for run, turn, wrong in zip(runs, turns, workload.wrong(expected, runs), strict=True):
        found = turn.outcome
        write_json(run / OUTCOME, document(turn))
        (run / TIMELINE).write_text(timeline(turn), encoding="utf-8")
        verdict = Verdict(lost=found.lost, twice=found.twice, answers=workload.answers, wrong=wrong)
        write_json(run / VERDICT, verdict.model_dump())
        say(
            f"{run.name}: {found.lost} items lost, {found.twice} came twice" + (f"; {wrong}" if wrong else "")
        )
        right &= found.lost == 0 and wrong is None
    return right


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


def timeline(turn: ElasticityTurn) -> str:
    """Return a turn over time, CSV: a row for each window."""
    scaled = [each.name for each in BY_NAME[turn.done.workload].scaled]
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    names = ["from_s", "rate", "result_rate", "hosts", "waiting", "mean_s", "p95_s"]
    rows.writerow([*names, *scaled])
    for each in turn.outcome.windows:
        values = [getattr(each, name) for name in names]
        rows.writerow([*(f"{value:g}" for value in values), *(each.executors.get(k, 0) for k in scaled)])
    return text.getvalue()
