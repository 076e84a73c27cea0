"""The sections of a report."""

from __future__ import annotations

from html import escape
from itertools import combinations
from typing import TYPE_CHECKING, Any

from experiments.evaluation.page import city, response, way
from experiments.evaluation.page.markup import details, paragraph, plot, section, side_by_side, table
from experiments.evaluation.page.sentences import (
    breakdown_sentence,
    distribution_sentence,
    placement_sentence,
    ranked_sentence,
)
from experiments.evaluation.page.svg import inline_svg

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from experiments.evaluation.page.contents import Evaluation

SUBJECT: Mapping[int, str] = {1: "most frequent routes", 2: "most profitable areas"}
SHORT: Mapping[int, str] = {1: "routes", 2: "areas"}
TOP = 10
ROUNDS = 25
"""Rounds that the table of decisions lists at most."""


def figures(made: Evaluation) -> str:
    """Return the table that puts the strategies side by side."""
    rows: list[tuple[str, ...]] = []
    best: set[int] = set()
    first = made.runs[0].name
    for query in made.queries:
        runs = made.analysed(query)
        medians = [run["latency"]["end_to_end"]["p50_ms"] for run in runs]
        for run, median in zip(runs, medians, strict=True):
            times = run["latency"]["end_to_end"]
            prediction = next(each.by_query[query] for each in made.runs if each.name == run["run"])
            if median == min(medians) and len(runs) > 1:
                best.add(len(rows))
            rows.append(
                (
                    *(f"{query}, {SHORT[query]}", run["run"], f"{times['count']:,}"),
                    *(f"{times[f'{key}_ms']:,.1f}" for key in ("p50", "p90", "p95", "p99", "max", "mean")),
                    f"{median / medians[0]:.2f}" if medians[0] else "-",
                    f"{run['latency']['in_topology']['p50_ms']:,.1f}",
                    f"{prediction.end_to_end_ms:,.1f}",
                    str(prediction.streams_between_sites),
                )
            )
    heads = (
        *("query", "strategy", "rows", "median", "p90", "p95", "p99", "max", "mean", f"median / {first}'s"),
        *("in topology, median", "predicted", "streams between sites"),
    )
    note = (
        "Response times in ms, from a row being in Redis to its result being back there; in topology: from "
        "the source to the last component. Predicted: what the decision core expects of this placement with "
        "the true delays, on the query's slowest way. Streams between sites: of the query; both queries may "
        "share some. Least median of each query in bold."
    )
    return section(
        "Response times in figures",
        table(heads, rows, texts=2, strong=frozenset(best)),
        paragraph(note),
    )


def setting(made: Evaluation) -> str:
    """Return what was run: facts, strategies, network."""
    facts = "".join(f"<dt>{escape(term)}</dt><dd>{escape(text)}</dd>" for term, text in made.facts.items())
    strategies = table(
        ("strategy", "who places the executors"), [(run.name, run.description) for run in made.runs], texts=2
    )
    sites = made.sites
    hosts = {name: sum(home == name for home in sites.hosts.values()) for name in sites.names}
    network = table(
        ("between", "one way, ms"),
        [
            *((f"{a} - {b}", f"{sites.between_ms(a, b):g}") for a, b in combinations(sites.names, 2)),
            *((f"two hosts of {a}", f"{sites.between_ms(a, a):g}") for a in sites.names if hosts[a] > 1),
        ],
    )
    places = table(
        ("site", "supervisor hosts"),
        [
            (f"{name} (Redis, Nimbus, ZooKeeper)" if name == sites.services else name, str(hosts[name]))
            for name in sites.names
        ],
    )
    return section(
        "What was run",
        f"<dl>{facts}</dl>",
        "<h3>Strategies</h3>",
        strategies,
        "<h3>Network (emulated)</h3>",
        side_by_side(places, network),
    )


def response_times(made: Evaluation, query: int) -> str:
    """Return the plots of one query's response times."""
    runs = made.analysed(query)
    colors = response.palette([run.name for run in made.runs])
    pieces = [
        plot(
            inline_svg(
                response.distribution(runs, colors),
                f"q{query}-cdf",
                f"Distribution of response times, query {query}",
            ),
            distribution_sentence(runs),
        ),
        plot(
            inline_svg(
                response.course(runs, colors), f"q{query}-course", f"Response times over time, query {query}"
            ),
            "A level line means a stable run; a peak is a stretch in which rows waited, for a moved "
            "executor or a busy machine.",
        ),
        plot(
            inline_svg(response.rates(runs, colors), f"q{query}-rate", f"Rows per second, query {query}"),
            "First the rows that are fed as fast as they are consumed, then those at the set rate, from "
            "which the response times are taken.",
        ),
    ]
    return section(f"Query {query}, {SUBJECT[query]}: response times", *pieces)


def where_time_goes(made: Evaluation) -> str:
    """Return the breakdown by cause, and all legs on demand."""
    runs = [run for query in made.queries for run in made.analysed(query) if run["parts"]]
    if not runs:
        return ""
    legs = [
        details(
            f"All legs: {run['run']}, query {run['query']}",
            table(
                ("leg", "where", "median, ms", "p95, ms", "of it network, ms"),
                [
                    (
                        leg["name"],
                        leg["place"],
                        *(f"{leg[key]:,.2f}" for key in ("median_ms", "p95_ms", "network_ms")),
                    )
                    for leg in run["legs"]
                ],
                texts=2,
            ),
        )
        for run in runs
    ]
    picture = plot(
        inline_svg(way.breakdown(runs), "parts", "Response time by cause"), breakdown_sentence(runs)
    )
    return section("Where the time goes", picture, *legs)


def placements(made: Evaluation) -> str:
    """Return a map per run."""
    bottom = way.lowest(made.runs, made.sites)
    colors = response.palette([run.name for run in made.runs])
    maps = [
        plot(
            inline_svg(
                way.placement(run.name, run, made.sites, colors[run.name], bottom),
                f"map{number}",
                f"Placement under {run.name}",
                follow_series=False,
            ),
            placement_sentence(run.prediction),
        )
        for number, run in enumerate(made.runs)
    ]
    note = (
        "Grey boxes are sites, white ones hosts, coloured ones executors. Red arrows are streams between "
        "sites, grey ones "
        "within a site; solid ones are on the slowest way of a row. Brackets: delay between sites, one way."
    )
    return section("Where the executors ran", paragraph(note), *maps)


def rounds(made: Evaluation) -> str:
    """Return the scheduler's rounds."""
    rows = made.analysis["rounds"]
    if not rows:
        return ""
    start = rows[0]["time_s"]
    decided = [row for row in rows if row["decision"] != "keep"]
    listed = table(
        ("after, s", "decision", "strategy", "why", "gain", "executors moved", "R, ms", "planning, ms"),
        [
            (
                *(
                    f"{row['time_s'] - start:.0f}",
                    row["decision"],
                    row["strategy"],
                    row["status"].partition(";")[0],
                ),
                *(f"{100 * row['gain']:.0f} %", str(row["executors_moved"])),
                "-" if row["response_time_ms"] is None else f"{row['response_time_ms']:.1f}",
                f"{row['plan_ms']:.0f}",
            )
            for row in decided[:ROUNDS]
        ],
        texts=4,
    )
    plans = sorted(row["plan_ms"] for row in rows)
    sentence = (
        f"{len(rows)} rounds, {len(decided)} of which gave executors slots or could not; in the others "
        "everything stayed. "
        f"Planning took {plans[len(plans) // 2]:.0f} ms in the median, {plans[-1]:.0f} ms at most."
    )
    picture = (
        plot(inline_svg(way.rounds(rows), "rounds", "The scheduler's rounds"), sentence)
        if len(rows) > 1
        else ""
    )
    return section("The scheduler's rounds", picture or paragraph(sentence), listed if decided else "")


def answers(made: Evaluation) -> str:
    """Return what the queries answered: the same for all strategies, so told once, by the first run."""
    first = {query: made.analysed(query)[0] for query in made.queries}
    demand: list[dict[str, Any]] = next((run["demand"] for run in first.values() if run["demand"]), [])
    pieces = []
    if demand:
        total = sum(row["rows"] for row in demand)
        peak = max(row["rows"] for row in demand)
        pieces.append(
            plot(
                inline_svg(city.demand(demand), "demand", "Trips per minute"),
                f"{total:,} trips counted; the busiest minute has {peak:,}.",
            )
        )
    maps = [_map(query, run["ranked"]) for query, run in first.items() if run["ranked"]]
    pieces.append(side_by_side(*maps))
    pieces += [_listed(query, run["ranked"][:TOP]) for query, run in first.items() if run["ranked"]]
    return section("What the queries answered", *pieces)


def _map(query: int, ranked: Sequence[Mapping[str, Any]]) -> str:
    drawn = city.route_map(ranked) if query == 1 else city.area_map(ranked)
    return plot(
        inline_svg(drawn, f"city{query}", f"Map of the {SUBJECT[query]}"), ranked_sentence(query, ranked)
    )


def _listed(query: int, ranked: Sequence[Mapping[str, Any]]) -> str:
    common = [
        (row["name"], f"{100 * row['share']:.1f} %", str(row["best_rank"]), f"{row['mean_rank']:.1f}")
        for row in ranked
    ]
    heads: tuple[str, ...] = ("route" if query == 1 else "area", "in output rows", "best rank", "mean rank")
    rows: list[tuple[str, ...]] = list(common)
    if query == 2:
        heads += ("mean profit, $", "mean empty taxis", "mean profitability, $ per taxi")
        keys = ("median", "empty", "profitability")
        rows = [
            (*cells, *("-" if row[key] is None else f"{row[key]:,.2f}" for key in keys))
            for cells, row in zip(common, ranked, strict=True)
        ]
    return details(f"The ten {SHORT[query]} that were listed most often", table(heads, rows))
