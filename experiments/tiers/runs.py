"""What strategies did on the problems of the evaluation."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from experiments.sweep.one_run import FAILED
from experiments.tiers.cases import LIMIT_S
from formats.tier import TIERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pyspark.sql import DataFrame

    from experiments.tiers.cases import Case

CLOUD = "cloud-greedy"
EXACT, OURS = "inop-exact", ("inop-sequential", "inop-search")
RESTRICT, PIN, COLOCATE = "inop-restrict", "inop-pin", "inop-colocate"
COMBINED = ("inop-comb-1", "inop-comb-2", "inop-comb-3")
HEURISTICS = (RESTRICT, PIN, COLOCATE, *COMBINED)


@dataclass(frozen=True)
class TierRun:
    """A strategy on a problem.

    Attributes:
        case: The problem.
        strategy: Its name.
        cost: F of its placement; None if it found none.
        proved: Whether it proved that its placement is optimal; or, of `inop-exact`, that there is none: it
            ends before the limit without a placement only then.
        seconds: It took so long.
        placement: Node of each operator; None likewise.
        better: Seconds and F of each better placement on the way.
        gap: How far F is above the least that any strategy but `cloud-greedy` found, relative to that; None
            where there is none of either. What fills links beyond their bandwidth is no placement to compare
            with, and that strategy does not look at links.
    """

    case: Case
    strategy: str
    cost: float | None
    proved: bool
    seconds: float
    placement: tuple[str, ...] | None
    better: tuple[tuple[float, float], ...]
    gap: float | None


def runs_of(table: DataFrame, cases: Iterable[Case]) -> tuple[TierRun, ...]:
    """Return the runs of some problems.

    Args:
        table: As `experiments.sweep.distribute.write_runs` returns it.
        cases: The problems.

    Failed runs are left out.
    """
    by_name = {case.name: case for case in cases}
    rows = [
        row
        for row in table.orderBy("instance", "strategy").collect()
        if row["instance"] in by_name and row["status"] != FAILED
    ]
    least: dict[str, float] = {}
    for row in rows:
        if row["objective"] is not None and row["strategy"] != CLOUD:
            least[row["instance"]] = min(row["objective"], least.get(row["instance"], row["objective"]))
    runs = []
    for row in rows:
        cost, best = row["objective"], least.get(row["instance"])
        runs.append(
            TierRun(
                case=by_name[row["instance"]],
                strategy=row["strategy"],
                cost=cost,
                proved=row["status"] == "optimal"
                or (cost is None and row["strategy"] == EXACT and row["seconds"] < LIMIT_S),
                seconds=row["seconds"],
                placement=None if row["placement"] is None else tuple(row["placement"]),
                better=tuple(zip(row["better_at_s"], row["better_objective"], strict=True)),
                gap=None if cost is None or best is None else max(0.0, cost / best - 1.0),
            )
        )
    return tuple(runs)


def on_tiers(runs: Sequence[TierRun]) -> Mapping[str, float]:
    """Return how many operators there are on each tier, on average over runs that found a placement."""
    total: Counter[str] = Counter()
    placed = [run for run in runs if run.placement is not None]
    for run in placed:
        problem = run.case.problem()
        tier = {node.name: node.tier for node in problem.network.nodes}
        total.update(
            str(tier[node])
            for node, terminal in zip(run.placement or (), problem.application.terminal.tolist(), strict=True)
            if not terminal
        )
    return {tier: total[tier] / max(1, len(placed)) for tier in TIERS}
