"""Write the report of measured rows: report.md with its plots, rows.csv and rows.parquet.

python -m benchmarks.placement.report DIR
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.placement.analysis import paper_figures, study
from benchmarks.placement.markdown import markdown
from benchmarks.placement.plots import plot_degradation, plot_steps, plot_times
from benchmarks.placement.rows import export, load, table
from benchmarks.placement.steps import STEPS, growth, step_points
from benchmarks.placement.tables import (
    beside_table_2,
    beside_table_4,
    proofs,
    raw_response_time,
    raw_units,
    times,
)
from benchmarks.placement.targets import searches, targets
from scheduler.instances.generators.paper import APPLICATIONS, OBJECTIVES

if TYPE_CHECKING:
    from benchmarks.placement.analysis import Study

REPORT = "report.md"
READING = """\
F is normalised by bounds that no placement can leave. *Best* is the least F that any variant found on the
problem; where a bound proves it, it is the certified optimum. *Degradation* is (F - best) / (1 - best),
averaged over the problems of a cell; the paper's is the same against its solver's value. *Speed-up* is the
time of our `odp` (with its time limit) / time of the strategy, averaged likewise: a faster `odp` makes all
speed-ups smaller. Runs of `ils` end at an optimum that `odp` has proved; as they could not know, they count
with their whole time limit. Cells read `paper -> ours`. Values of F within 1e-6 count as equal. Networks,
machine and solver are not the paper's: compare ratios and orders of magnitude.
"""


def main() -> None:
    """Write the report of a folder."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, metavar="DIR")
    folder = parser.parse_args().folder
    rows = load(folder)
    if not rows:
        parser.error(f"{folder}: no measured rows; python -m benchmarks.placement --out {folder}")
    export(folder)
    made = study(table(rows))
    plot_times(made, folder / "time.png")
    plot_degradation(made, folder / "degradation.png")
    if (folder / STEPS).exists():
        document = json.loads((folder / STEPS).read_text(encoding="utf-8"))
        plot_steps(step_points(document), folder / "steps.png")
    (folder / REPORT).write_text(report(made, folder), encoding="utf-8")
    sys.stderr.write(f"{folder / REPORT}\n")


def report(made: Study, folder: Path) -> str:
    """Return the report as Markdown; what was measured of steps is taken from the folder."""
    parts = [
        "# Placement: the paper's evaluation, measured here\n",
        _origin(made),
        "## Targets\n",
        targets(made),
        "## Proofs by `odp`\n",
        "Problems certified, longest time, and the worst gap (F - bound) / F of the others.\n",
        proofs(made),
        "## Iterated local search and portfolio against the certified optimum\n",
        searches(made),
        "## Raw response time left by each strategy\n",
        "When response time is minimised: mean (worst) percent above the best known R.\n",
        raw_response_time(made),
        "## Minimising response time, beside the paper's Table 2\n",
        beside_table_2(made),
        "## All objectives, beside the paper's Table 4\n",
    ]
    for application in APPLICATIONS:
        parts += [f"### {application}\n", beside_table_4(made, application)]
    parts.append("## Degradation in raw units\n")
    for application in APPLICATIONS:
        parts += [f"### {application}\n", raw_units(made, application)]
    parts += ["## Times\n", "Median (longest) over all applications and objectives.\n", times(made)]
    parts += [
        "![time against network size](time.png)\n",
        "![degradation against network size](degradation.png)\n",
    ]
    parts += _steps(folder)
    parts += _faults(made)
    return "\n".join(parts)


def _origin(made: Study) -> str:
    rows = made.rows
    sizes = ", ".join(str(each) for each in made.sizes)
    problems = len(rows.groupby(["application", "objective", "nodes", "seed"]))
    whole = len(APPLICATIONS) * len(OBJECTIVES) * 5 * 5
    limits = [
        f"`{variant}` {' or '.join(f'{each:g} s' for each in sorted(own.dropna().unique()))}"
        for variant, own in rows.groupby("variant", sort=False)["limit_s"]
        if own.notna().any()
    ]
    lines = [
        f"{len(rows):,} rows over {problems} problems (the whole grid has {whole}): sizes {sizes}; seeds "
        f"{', '.join(str(each) for each in sorted(rows['seed'].unique()))}.",
        f"Time limits: {', '.join(limits) if limits else 'none'}; all others end by themselves.",
        *(f"Machine: {each}." for each in rows["machine"].unique()),
        f"Dates {', '.join(sorted(rows['date'].unique()))}; commits {', '.join(rows['commit'].unique())}.",
        f"The paper's figures: {paper_figures()['source']}.",
        "",
        READING,
    ]
    return "\n".join(lines)


def _steps(folder: Path) -> list[str]:
    """Return the section on time per improving step, if that was measured."""
    file = folder / STEPS
    if not file.exists():
        return []
    document = json.loads(file.read_text(encoding="utf-8"))
    points = step_points(document)
    if points.empty:
        return []
    body = []
    for kind, own in points.groupby("kind"):
        middle = own.groupby("size")["seconds_per_step"].median()
        body.append(
            [
                str(kind),
                str(len(own)),
                f"{1000 * middle.iloc[0]:.2f} ms at {middle.index[0]:,}",
                f"{1000 * middle.iloc[-1]:.2f} ms at {middle.index[-1]:,}",
                f"{growth(own):.2f}",
            ]
        )
    head = ["step", "runs", "smallest size", "largest size", "exponent (1 is linear)"]
    return [
        "## Time per improving step\n",
        "Steps of local search by kind, and improvements of `ils`; size is nodes x operators.",
        f"{document['provenance']}.\n",
        markdown(head, body),
        "![time per improving step](steps.png)\n",
    ]


def _faults(made: Study) -> list[str]:
    parts = ["## Faults\n"]
    if made.failed.empty and not made.contradictions:
        return [*parts, "None: no strategy broke its contract, and no value lies below a proved bound.\n"]
    for row in made.failed.itertuples():
        cell = f"{row.application} {row.objective} {row.nodes} nodes seed {row.seed}"
        parts.append(f"* {cell}: {row.variant}: {row.reason}")
    parts += [f"* {each}" for each in made.contradictions]
    return [*parts, ""]


if __name__ == "__main__":
    main()
