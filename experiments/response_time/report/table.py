"""The report's text: targets, the table of variants, the breakdown, placements and origin, as Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from experiments.busy import busy_sentence
from experiments.reports.markdown import distinct, table
from experiments.reports.targets import target_table
from experiments.response_time.report.response_time_goals import coverage
from experiments.response_time.report.summary import PAPER_MEAN_MS, PAPER_SAME_SITES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from experiments.reports.targets import Target
    from experiments.response_time.report.summary import VariantSummary
    from experiments.response_time.report.turns import TurnData

COLUMNS = (
    "variant",
    "median",
    "mean",
    "p95",
    "in topology, median",
    "predicted",
    "measured / predicted",
    "expected by the daemon",
    "sites",
    "between sites, tuples/s",
    "placing, ms",
    "answers",
    "paper",
)
NOTE = (
    "Response times in ms, end to end: from the row being available in Redis to its result being back in "
    "Redis, both at the site of the services. Predicted: the decision core's response time of the placement "
    "with the site file's delays, and the ways from and to Redis. Expected by the daemon: what it computed "
    "from measured delays when it placed the query, source to sink. Between sites: tuples per second that "
    "cross from site to site, the ways from and to Redis included; computed from the placement and the "
    "rates, not measured. Placing: the daemon's time for the round that placed the query; for the "
    "resource-aware scheduler the time of its search, as its status line tells; Storm's other schedulers "
    "tell none. Several values: the turns differ. Paper: means from section 7.5."
)


def markdown(
    variants: Sequence[VariantSummary],
    found: Sequence[Target],
    boxes: str,
    bars: str,
    maps: Mapping[str, str],
) -> str:
    """Return the report.

    Args:
        variants: All variants, in the order of the table.
        found: Targets.
        boxes: File name of the box plots.
        bars: File name of the bars of the breakdown.
        maps: File name of a placement's map by label of its turn.
    """
    turns = [turn for each in variants for turn in each.turns]
    lines = [
        "# Response time of the taxi query at seven data centres",
        "",
        *_origin(turns, coverage(variants)),
        "",
    ]
    lines += [*target_table(found), ""]
    lines += ["## Response times", "", *table(COLUMNS, map(_cells, variants)), "", NOTE, ""]
    lines += [f"![Response times]({boxes})", ""]
    lines += [
        "## Where the time goes",
        "",
        *table(_PART_COLUMNS, map(_part_cells, variants)),
        "",
        _PART_NOTE,
        "",
    ]
    lines += [f"![Parts of the response time]({bars})", ""]
    lines += ["### Leg by leg", ""]
    for each in variants:
        lines += [*_legs(each.turns[0]), ""]
    lines += ["## Placements", ""]
    for each in variants:
        for turn in each.distinct():
            lines += [*_placement(turn, maps[turn.label]), ""]
    return "\n".join(lines)


_PART_COLUMNS = ("variant", "network", "Storm and pipes", "Python", "wait for metronome", "Redis")
_PART_NOTE = (
    "Sums of the medians of the legs, ms. Network: one-way delays of the site file on the way of a row. "
    "Storm and pipes: the rest of the hops between components, which is queues, serialisation, Netty, and "
    "the pipes between a worker and its Python processes. Python: the components' own work. Redis: reading "
    "and writing without the network's delay (Redis' clock has steps of 1 ms)."
)


def _origin(turns: Sequence[TurnData], measured: str) -> list[str]:
    first = turns[0].done
    rows = sum(len(turn.rows) for turn in turns)
    return [
        f"{len(turns)} turns of {measured}, {rows:,} rows measured at {first.rate:g} rows/s "
        f"({first.measured_rows} per turn, after {first.fast_rows} fast rows and "
        f"{first.warm_up_rows} rows of warm-up).",
        busy_sentence({turn.label: turn.done.busy for turn in turns}),
        f"{distinct(turn.done.machine for turn in turns)}; {distinct(turn.done.date for turn in turns)}; "
        f"commit {distinct(turn.done.commit for turn in turns)}.",
    ]


def _cells(variant: VariantSummary) -> list[str]:
    turns = variant.turns
    expected = [turn.planned.response_time_ms for turn in turns if turn.planned is not None]
    placing = [turn.placing_ms for turn in turns if turn.placing_ms is not None]
    return [
        variant.name,
        f"{variant.median_ms:.1f}",
        f"{variant.mean_ms:.1f}",
        f"{variant.p95_ms:.1f}",
        f"{variant.in_topology_median_ms:.1f}",
        distinct(f"{turn.prediction.end_to_end_ms:.1f}" for turn in turns),
        distinct(f"{ratio:.2f}" for ratio in variant.ratios),
        distinct("none" if value is None else f"{value:.1f}" for value in expected) or "-",
        distinct(", ".join(turn.sites) for turn in turns),
        distinct(f"{turn.traffic_per_s:.1f}" for turn in turns),
        distinct(f"{value:.0f}" for value in placing) or "-",
        distinct(turn.verdict for turn in turns),
        _paper(variant.name),
    ]


def _paper(name: str) -> str:
    if name in PAPER_MEAN_MS:
        return f"{PAPER_MEAN_MS[name]:g}"
    return "the optimum's sites" if name in PAPER_SAME_SITES else "-"


def _part_cells(variant: VariantSummary) -> list[str]:
    found = variant.parts
    values = (found.network, found.storm, found.python, found.wait, found.redis)
    return [variant.name, *(f"{value:.1f}" for value in values)]


def _legs(turn: TurnData) -> list[str]:
    rows = [
        [
            leg.name,
            leg.place,
            f"{leg.median_ms:.2f}",
            f"{leg.p95_ms:.2f}",
            f"{leg.network_ms:g}",
            f"{leg.rest_ms:.2f}",
        ]
        for leg in turn.legs
    ]
    return [
        f"<details><summary>{turn.label}</summary>",
        "",
        *table(("leg", "where", "median", "p95", "of it network", "rest"), rows),
        "",
        "</details>",
    ]


def _placement(turn: TurnData, picture: str) -> list[str]:
    lines = [f"### {turn.label}", ""]
    if turn.planned is not None:
        lines += [f"Status line: {turn.planned.status}", ""]
    lines += [
        f"Critical path: {' - '.join(turn.prediction.critical_path)}",
        "",
        f"![{turn.label}]({picture})",
    ]
    return lines
