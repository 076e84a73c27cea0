"""The report's tables: the paper's Tables 2 and 4 beside ours, raw units, proofs, times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.placement.analysis import RAW_UNIT, REFERENCE, excess, paper_figures
from benchmarks.placement.markdown import markdown, percent, ratio, seconds
from scheduler.instances.generators.paper import APPLICATIONS, OBJECTIVES

if TYPE_CHECKING:
    import pandas as pd

    from benchmarks.placement.analysis import Study

SYMBOLS = {"A": "w_a", "R": "w_r", "Z": "w_z", "equal": "all equal"}


def beside_table_2(made: Study) -> str:
    """Return speed-up and degradation when response time is minimised: the paper's figure -> ours."""
    columns = [(application, "R") for application in APPLICATIONS]
    head = ["strategy"]
    for application, _ in columns:
        head += [f"{application}: speed-up", "degradation"]
    head += ["overall: speed-up", "degradation"]
    body = [_reference_row(made, size, columns, extra=2) for size in _end_sizes(made)]
    body += [_compared_row(made, variant, columns, overall=True) for variant in made.variants]
    return markdown(head, body)


def beside_table_4(made: Study, application: str) -> str:
    """Return speed-up and degradation of one application under all objectives: the paper's figure -> ours."""
    columns = [(application, objective) for objective in OBJECTIVES]
    head = ["strategy"]
    for _, objective in columns:
        head += [f"{SYMBOLS[objective]}: speed-up", "degradation"]
    body = [_reference_row(made, size, columns) for size in _end_sizes(made)]
    body += [_compared_row(made, variant, columns) for variant in made.variants]
    return markdown(head, body)


def raw_units(made: Study, application: str) -> str:
    """Return by how much raw metrics are worse than those of the best known placement, on the mean."""
    head = ["strategy", *(f"{SYMBOLS[each]} ({RAW_UNIT[each]})" for each in OBJECTIVES)]
    rows = made.rows[made.rows["application"] == application]
    body = []
    for variant in made.variants:
        own = rows[rows["variant"] == variant]
        body.append([variant, *(excess(own[own["objective"] == each], each) for each in OBJECTIVES)])
    return markdown(head, body)


def raw_response_time(made: Study) -> str:
    """Return how much raw response time each variant leaves: mean (worst) in percent, by network size."""
    rows = made.rows[made.rows["objective"] == "R"]
    sizes = sorted(rows["nodes"].unique())
    body = []
    for application in APPLICATIONS:
        for variant in made.variants:
            own = rows[(rows["application"] == application) & (rows["variant"] == variant)]
            if own.empty:
                continue
            cells = [_mean_and_worst(own[own["nodes"] == size]["excess_r"]) for size in sizes]
            body.append([f"{application}, {variant}", *cells, _mean_and_worst(own["excess_r"])])
    return markdown(["application, strategy", *(f"{size} nodes" for size in sizes), "all"], body)


def proofs(made: Study) -> str:
    """Return, per cell of Table 4 and size, what `odp` certified, its longest time, and the worst gap."""
    rows = made.rows[made.rows["variant"] == REFERENCE]
    sizes = sorted(rows["nodes"].unique())
    body = []
    for application in APPLICATIONS:
        for objective in OBJECTIVES:
            own = rows[(rows["application"] == application) & (rows["objective"] == objective)]
            if own.empty:
                continue
            body.append(
                [f"{application}, {objective}", *(_proved(own[own["nodes"] == size]) for size in sizes)]
            )
    return markdown(["application, objective", *(f"{size} nodes" for size in sizes)], body)


def times(made: Study) -> str:
    """Return median and longest time per variant and network size over all applications and objectives."""
    sizes = sorted(made.rows["nodes"].unique())
    body = []
    for variant in made.variants:
        own = made.rows[made.rows["variant"] == variant]
        cells = [own[own["nodes"] == size]["seconds"] for size in sizes]
        body.append(
            [
                variant,
                *(
                    "-" if each.empty else f"{seconds(each.median())} ({seconds(each.max())})"
                    for each in cells
                ),
            ]
        )
    return markdown(["strategy", *(f"{size} nodes" for size in sizes)], body)


def _end_sizes(made: Study) -> list[int]:
    sizes = sorted(made.rows["nodes"].unique())
    return [sizes[0], sizes[-1]] if len(sizes) > 1 else sizes[:1]


def _reference_row(made: Study, size: int, columns: list[tuple[str, str]], extra: int = 0) -> list[str]:
    """Return the resolution times of `odp` on networks of one size."""
    known: dict[str, Any] = paper_figures()["resolution_time_s"].get(str(size), {})
    line = [f"{REFERENCE}, seconds at {size} nodes"]
    for application, objective in columns:
        own = _rows(made, REFERENCE, application, objective)
        own = own[own["nodes"] == size]
        ours = "-" if own.empty else f"{own['seconds'].mean():.3g}"
        line += [f"{known.get(f'{application} {objective}', '-')} -> {ours}", ""]
    return line + [""] * extra


def _compared_row(
    made: Study, variant: str, columns: list[tuple[str, str]], *, overall: bool = False
) -> list[str]:
    known: dict[str, Any] = paper_figures()["table_4"].get(variant, {})
    published_speed, published_loss = known.get("speed_up", {}), known.get("degradation", {})
    line = [variant]
    for application, objective in columns:
        own = _rows(made, variant, application, objective)
        name = f"{application} {objective}"
        line += _compared(published_speed.get(name), published_loss.get(name), own)
    if overall:
        own = made.rows[made.rows["variant"] == variant]
        line += _compared(published_speed.get("average"), published_loss.get("average"), own)
    return line


def _compared(speed: float | None, loss: float | None, own: pd.DataFrame) -> list[str]:
    published = ("-" if speed is None else ratio(speed), "-" if loss is None else percent(loss))
    ours = (ratio(own["speed_up"].mean()), percent(own["degradation"].mean()))
    return [f"{paper} -> {our}" for paper, our in zip(published, ours, strict=True)]


def _rows(made: Study, variant: str, application: str, objective: str) -> pd.DataFrame:
    rows = made.rows
    return rows[
        (rows["variant"] == variant) & (rows["application"] == application) & (rows["objective"] == objective)
    ]


def _mean_and_worst(values: pd.Series[float]) -> str:
    # adding zero turns the zero of a rounded negative number into a plain one
    return (
        "-" if values.empty else f"{round(values.mean(), 2) + 0.0:.2f} ({round(values.max(), 2) + 0.0:.2f})"
    )


def _proved(own: pd.DataFrame) -> str:
    if own.empty:
        return "-"
    proved = own["status"] == "optimal"
    text = f"{proved.sum()} of {len(own)} in {seconds(own['seconds'].max())}"
    open_ones = own[~proved]
    if open_ones.empty:
        return text
    own_value = open_ones["objective_value"]
    gap = ((own_value - open_ones["bound"]) / own_value).clip(lower=0.0)
    return f"{text}, " + ("no bound" if gap.isna().any() else f"gap at most {percent(gap.max())}")
