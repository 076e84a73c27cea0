"""From rows to figures: best known values, degradation, speed-up, proofs and contradictions."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.sweep.one_run import FAILED
from scheduler.registry import STRATEGIES

if TYPE_CHECKING:
    import pandas as pd

PROBLEM = ["application", "objective", "nodes", "seed"]
OPTIMAL = "optimal"
REFERENCE = "odp"
SOLVER_TOLERANCE = 1e-6
"""By how much a solver's bound may be above a value of F without contradicting it."""

RAW_UNIT = {"R": "% of R", "A": "points of A", "Z": "% of Z", "equal": "% of R / points of A / % of Z"}


@dataclass(frozen=True, eq=False)
class Study:
    """Rows with what follows from all rows of their problem.

    Attributes:
        rows: Measured rows that are not failed, one per problem and variant: where a folder has several time
            limits of a variant, that of the longest. Further columns are: `best`: least F of all variants;
            `limit_below`: best proved bound; `certified`: some variant proved the best value; `gap` of the
            problem: (best - bound) / best; `degradation`: (F - best) / (1 - best), the paper's pd against
            the best known value; `excess_r`, `excess_a`, `excess_z`: by how much raw metrics are worse
            than those of the best placement, in percent, points and percent; `speed_up`: seconds of
            `odp` / seconds. `seconds` of a search that would use up its time is at least its time limit.
        failed: Rows of variants that broke their contract.
        contradictions: Sentences about rows that cannot all be true; none is expected.
    """

    rows: pd.DataFrame
    failed: pd.DataFrame
    contradictions: tuple[str, ...]

    @property
    def variants(self) -> list[str]:
        """Labels in the order in which they were measured first."""
        return list(dict.fromkeys(self.rows["variant"]))

    @property
    def sizes(self) -> list[int]:
        """Numbers of nodes, ascending."""
        return sorted(self.rows["nodes"].unique())

    def part(self, **wanted: str | int) -> pd.DataFrame:
        """Return the rows that have these values, by column."""
        rows = self.rows
        for column, value in wanted.items():
            rows = rows[rows[column] == value]
        return rows


def study(table: pd.DataFrame) -> Study:
    """Return the figures that follow from measured rows.

    Args:
        table: As `benchmarks.placement.rows.table` makes it.
    """
    failed = table[table["status"] == FAILED]
    rows = table[table["objective_value"].notna()].copy()
    rows["seconds"] = _charged(rows)
    groups = rows.groupby(PROBLEM)
    rows["best"] = groups["objective_value"].transform("min")
    rows["limit_below"] = groups["bound"].transform("max")
    proved = rows["objective_value"].where(rows["status"] == OPTIMAL)
    rows["certified"] = proved.groupby([rows[each] for each in PROBLEM]).transform("count") > 0
    unproved = (rows["best"] - rows["limit_below"]) / rows["best"].where(rows["best"] > 0)
    rows["gap"] = np.where(rows["certified"], 0.0, unproved.clip(lower=0.0))
    loss = (rows["objective_value"] - rows["best"]) / (1.0 - rows["best"])
    rows["degradation"] = loss.mask(at_best(rows), 0.0)
    best = rows.loc[groups["objective_value"].transform("idxmin")]
    contradictions = (*_contradictions(rows), *_missed(table))
    for column, metric in (("excess_r", "response_time_ms"), ("excess_z", "network_usage_bytes")):
        ideal = best[metric].to_numpy()
        rows[column] = 100.0 * (rows[metric] - ideal) / np.where(ideal > 0, ideal, np.nan)
    rows["excess_a"] = 100.0 * (best["availability"].to_numpy() - rows["availability"])
    rows = _of_longest_limit(rows)
    reference = rows[rows["variant"] == REFERENCE].set_index(PROBLEM)["seconds"]
    own = rows.set_index(PROBLEM).index
    rows["reference_s"] = reference.reindex(own).to_numpy() if len(reference) else np.nan
    rows["speed_up"] = rows["reference_s"] / rows["seconds"]
    return Study(rows, failed, contradictions)


def _charged(rows: pd.DataFrame) -> pd.Series[float]:
    """Return seconds; a search that was ended at an optimum, which it could not know, pays for its limit."""
    searches = [each.name for each in STRATEGIES.values() if each.limits and not each.exact]
    whole = rows["strategy"].isin(searches) & rows["limit_s"].notna()
    return rows["seconds"].mask(whole, rows[["seconds", "limit_s"]].max(axis=1))


def _of_longest_limit(rows: pd.DataFrame) -> pd.DataFrame:
    """Return one row per problem and variant: a short limit of the reduced grid would count twice."""
    ascending = rows.sort_values("limit_s", kind="stable", na_position="first")
    return ascending.drop_duplicates([*PROBLEM, "variant"], keep="last").sort_index()


def at_best(rows: pd.DataFrame) -> pd.Series[bool]:
    """Return whether F is the best known value, as far as solvers are exact."""
    return rows["objective_value"] <= rows["best"] + SOLVER_TOLERANCE


def gap(rows: pd.DataFrame) -> pd.Series[float]:
    """Return how far each row's own bound is below its F, as a fraction of F; NaN without a bound."""
    own = ((rows["objective_value"] - rows["bound"]) / rows["objective_value"]).clip(lower=0.0)
    return own.where(rows["status"] != OPTIMAL, 0.0)


def excess(rows: pd.DataFrame, objective: str) -> str:
    """Return the mean excess over the best placement in raw units of an objective; ``-`` without rows."""
    if rows.empty:
        return "-"
    # adding zero turns the zero of a rounded negative number into a plain one
    r, a, z = (round(float(rows[each].mean()), 2) + 0.0 for each in ("excess_r", "excess_a", "excess_z"))
    return {"R": f"{r:.2f}", "A": f"{a:.2f}", "Z": f"{z:.2f}", "equal": f"{r:.1f} / {a:.2f} / {z:.1f}"}[
        objective
    ]


def paper_figures() -> dict[str, Any]:
    """Return what the paper reports in Tables 2 and 4, with its source."""
    file = Path(__file__).with_name("paper_figures.json")
    figures: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return figures


def _contradictions(rows: pd.DataFrame) -> list[str]:
    """Return a sentence for every value below a proved bound."""
    found = []
    low = rows[rows["objective_value"] < rows["limit_below"] - SOLVER_TOLERANCE]
    for row in low.itertuples():
        found.append(
            f"{row.application} {row.objective} {row.nodes} nodes seed {row.seed}: {row.variant} found "
            f"F = {row.objective_value:.9g}, below the proved bound {row.limit_below:.9g}"
        )
    return found


def _missed(table: pd.DataFrame) -> list[str]:
    """Return a sentence for every row without a placement on a problem that another variant solved."""
    solved = table["objective_value"].notna().groupby([table[each] for each in PROBLEM]).transform("any")
    return [
        f"{row.application} {row.objective} {row.nodes} nodes seed {row.seed}: {row.variant} found no "
        f"placement, though there is one: {row.reason}"
        for row in table[solved & (table["status"] == "infeasible")].itertuples()
    ]
