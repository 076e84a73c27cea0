"""The report's tables: the paper's Tables 2 and 4 beside ours, raw units, proofs, times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.placement.analysis import RAW_UNIT, REFERENCE, excess, gap, paper_figures
from benchmarks.placement.markdown import markdown, percent, ratio, seconds
from scheduler.instances.generators.paper import APPLICATIONS, OBJECTIVES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import pandas as pd

    from benchmarks.placement.analysis import Study

SYMBOLS = {"A": "w_a", "R": "w_r", "Z": "w_z", "equal": "all equal"}


def beside_table_2(made: Study) -> str:
    """Return speed-up and degradation when response time is minimised: the paper's figure -> ours."""
    columns = [(application, "R") for application in APPLICATIONS]
    body = [[*_reference_row(made, size, columns), "", ""] for size in _end_sizes(made)]
    for variant in made.variants:
        overall = _compared("average", variant, made.part(variant=variant))
        body.append([*_compared_row(made, variant, columns), *overall])
    return markdown(_compared_head([*APPLICATIONS, "overall"]), body)


def beside_table_4(made: Study, application: str) -> str:
    """Return speed-up and degradation of one application under all objectives: the paper's figure -> ours."""
    columns = [(application, objective) for objective in OBJECTIVES]
    body = [_reference_row(made, size, columns) for size in _end_sizes(made)]
    body += [_compared_row(made, variant, columns) for variant in made.variants]
    return markdown(_compared_head(SYMBOLS[objective] for objective in OBJECTIVES), body)


def raw_units(made: Study, application: str) -> str:
    """Return by how much raw metrics are worse than those of the best known placement, on the mean."""
    body = [
        [
            variant,
            *(
                excess(made.part(application=application, variant=variant, objective=each), each)
                for each in OBJECTIVES
            ),
        ]
        for variant in made.variants
    ]
    return markdown(["strategy", *(f"{SYMBOLS[each]} ({RAW_UNIT[each]})" for each in OBJECTIVES)], body)


def raw_response_time(made: Study) -> str:
    """Return how much raw response time each variant leaves: mean (worst) in percent, by network size."""
    parts = {
        f"{application}, {variant}": made.part(objective="R", application=application, variant=variant)
        for application in APPLICATIONS
        for variant in made.variants
    }
    return _by_size(made, "application, strategy", parts, _mean_and_worst, whole="all")


def proofs(made: Study) -> str:
    """Return, per cell of Table 4 and size, what `odp` certified, its longest time, and the worst gap."""
    parts = {
        f"{application}, {objective}": made.part(
            variant=REFERENCE, application=application, objective=objective
        )
        for application in APPLICATIONS
        for objective in OBJECTIVES
    }
    return _by_size(made, "application, objective", parts, _proved)


def times(made: Study) -> str:
    """Return median and longest time per variant and network size over all applications and objectives."""
    parts = {variant: made.part(variant=variant) for variant in made.variants}
    return _by_size(
        made,
        "strategy",
        parts,
        lambda own: f"{seconds(own['seconds'].median())} ({seconds(own['seconds'].max())})",
    )


def _by_size(
    made: Study,
    head: str,
    parts: dict[str, pd.DataFrame],
    cell: Callable[[pd.DataFrame], str],
    whole: str | None = None,
) -> str:
    """Return a table: a row for each part that has rows, a column per network size, perhaps one for all."""
    sizes = made.sizes
    body = []
    for name, own in parts.items():
        cells = [own[own["nodes"] == size] for size in sizes] + ([own] if whole else [])
        if len(own):
            body.append([name, *("-" if each.empty else cell(each) for each in cells)])
    return markdown([head, *(f"{size} nodes" for size in sizes), *([whole] if whole else [])], body)


def _end_sizes(made: Study) -> list[int]:
    return sorted({made.sizes[0], made.sizes[-1]})


def _compared_head(columns: Iterable[str]) -> list[str]:
    return ["strategy", *(title for each in columns for title in (f"{each}: speed-up", "degradation"))]


def _reference_row(made: Study, size: int, columns: list[tuple[str, str]]) -> list[str]:
    """Return the resolution times of `odp` on networks of one size."""
    known: dict[str, Any] = paper_figures()["resolution_time_s"].get(str(size), {})
    line = [f"{REFERENCE}, seconds at {size} nodes"]
    for application, objective in columns:
        own = made.part(variant=REFERENCE, application=application, objective=objective, nodes=size)
        ours = "-" if own.empty else f"{own['seconds'].mean():.3g}"
        line += [f"{known.get(f'{application} {objective}', '-')} -> {ours}", ""]
    return line


def _compared_row(made: Study, variant: str, columns: list[tuple[str, str]]) -> list[str]:
    line = [variant]
    for application, objective in columns:
        own = made.part(variant=variant, application=application, objective=objective)
        line += _compared(f"{application} {objective}", variant, own)
    return line


def _compared(column: str, variant: str, own: pd.DataFrame) -> list[str]:
    """Return speed-up and degradation of a column of the paper's Table 4, the published figure -> ours."""
    known: dict[str, Any] = paper_figures()["table_4"].get(variant, {})
    cells = []
    for figure, text in (("speed_up", ratio), ("degradation", percent)):
        published = known.get(figure, {}).get(column)
        cells.append(f"{'-' if published is None else text(published)} -> {text(own[figure].mean())}")
    return cells


def _mean_and_worst(own: pd.DataFrame) -> str:
    # adding zero turns the zero of a rounded negative number into a plain one
    mean, worst = (round(value, 2) + 0.0 for value in (own["excess_r"].mean(), own["excess_r"].max()))
    return f"{mean:.2f} ({worst:.2f})"


def _proved(own: pd.DataFrame) -> str:
    unproved = own[own["status"] != "optimal"]
    text = f"{len(own) - len(unproved)} of {len(own)} in {seconds(own['seconds'].max())}"
    if unproved.empty:
        return text
    left = gap(unproved)
    return f"{text}, " + ("no bound" if left.isna().any() else f"gap at most {percent(left.max())}")
