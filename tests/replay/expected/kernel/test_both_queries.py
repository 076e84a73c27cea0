"""The kernels against a model that searches every window anew, with any cut into blocks."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from formats.semantics import Semantics
from replay import grid
from replay.expected.boundaries import false_tops
from replay.expected.event_blocks import SPAN_S, Span, lay_out
from replay.expected.kernel import ranking as kernel_ranking
from replay.expected.kernel.both_queries import BlockSolver
from replay.expected.query1 import route_name, route_number
from replay.expected.query2 import area_text
from tests.replay.expected.naive_queries import NaiveTrip, answer, areas_at, routes_at

if TYPE_CHECKING:
    from replay.expected.event_blocks import Layout

NOON = 1_357_041_600
COLUMNS = pa.schema(
    [
        ("n", pa.int64()),
        ("dropoff_s", pa.int64()),
        ("pickup_s", pa.int64()),
        ("route", pa.int64()),
        ("taxi", pa.string()),
        ("start", pa.int64()),
        ("end", pa.int64()),
        ("cents", pa.int64()),
    ]
)


def random_trips(rng: random.Random) -> list[NaiveTrip]:
    """Return rows with bursts, pauses, few places (many ties), a few that one query does not consider."""
    time_s, trips = NOON + rng.randrange(600), []
    gaps = rng.choice(((0, 0, 1, 7, 60), (0, 1, 30, 59, 60, 240), (0, 60, 600, 1800, 7200)))
    places = rng.randint(2, 40)
    taxis = rng.randint(1, 60)
    for n in range(1, rng.randint(2, 160)):
        time_s += rng.choice(gaps)
        if rng.random() < 0.01:
            time_s += rng.choice((899, 900, 1799, 1800, 1801, 20_000))
        dropoff = time_s - (rng.choice((1, 100, 5000)) if rng.random() < 0.03 else 0)
        start, end = (1000 * rng.randint(1, 2) + rng.randint(1, places) for _ in range(2))
        first, second = rng.random() < 0.95, rng.random() < 0.95
        trips.append(
            NaiveTrip(
                n,
                dropoff,
                dropoff - 300,
                route_number(start, end) if first else None,
                f"T{rng.randrange(taxis)}" if second else None,
                start if second else None,
                end if second else None,
                rng.choice((-300, -301, 0, 250, 300, 450, 451, 1000, 5200)) if second else None,
            )
        )
    return trips


def spans_of(trips: list[NaiveTrip]) -> list[Span]:
    """Return what Spark would count."""
    spans: dict[int, list[NaiveTrip]] = {}
    for trip in trips:
        if trip.route is not None or trip.start is not None:
            spans.setdefault((trip.dropoff_s - 1) // SPAN_S, []).append(trip)
    return [
        Span(
            number,
            len(rows),
            {
                1: min((t.n for t in rows if t.route is not None), default=None),
                2: min((t.n for t in rows if t.start is not None), default=None),
            },
        )
        for number, rows in spans.items()
    ]


def solve(
    trips: list[NaiveTrip], semantics: Semantics, layout: Layout, rng: random.Random
) -> list[dict[str, Any]]:
    """Run the kernel over all blocks and put the answers together, as the pipeline does."""
    solver = BlockSolver((1, 2), semantics, layout.bounds)
    found = []
    for block in layout.bounds:
        members = {span for span, owner in layout.members if owner == block}
        rows = [t._asdict() for t in trips if (t.dropoff_s - 1) // SPAN_S in members]
        rng.shuffle(rows)
        table = pa.Table.from_pylist(rows, COLUMNS)
        found += solver.solve(block, table).to_pylist()
    borders = [row for row in found if row["first"] or row["kind"] == "edge"]
    false = false_tops((r["query"], r["block"], r["kind"], r["labels"]) for r in borders)
    return [row for row in found if not (row["first"] and (row["query"], row["block"]) in false)]


def chosen(rows: list[dict[str, Any]], query: int, kind: str) -> list[dict[str, Any]]:
    return [row for row in rows if (row["query"], row["kind"]) == (query, kind)]


def routes_shown(row: dict[str, Any]) -> list[tuple[str, int]]:
    return list(zip(row["names"], row["counts"], strict=True))


def areas_shown(row: dict[str, Any]) -> list[tuple[object, ...]]:
    columns = (row[name] for name in ("names", "counts", "medians", "profitabilities"))
    return list(zip(*columns, strict=True))


def named_routes(ranks: Any) -> list[tuple[str, int]]:
    return [(route_name(route), count) for route, count in ranks]


def named_areas(ranks: Any) -> list[tuple[object, ...]]:
    return [(grid.name(area), taxis, twice / 200, shown) for area, taxis, twice, shown in ranks]


def with_ties(ranks: Any, level: int) -> Any:
    """Return ranks 1 to 11 and all behind them that have rank 11's level, which is in column `level`."""
    if len(ranks) < 11:
        return ranks
    return [each for each in ranks if each[level] >= ranks[10][level]]


SETTINGS = [
    Semantics(),
    Semantics(median="cents", idle_areas="zero", negative_profit="ignored", q2_emit="values"),
    Semantics(nulls="per-route", negative_profit="ignored"),
    Semantics(idle_areas="zero", median="cents"),
    Semantics(profitability="cents", idle_areas="zero", q2_emit="values"),
]


@pytest.mark.parametrize("semantics", SETTINGS, ids=str)
@pytest.mark.parametrize("seed", range(10))
def test_blocks_of_any_size_give_the_answers_of_the_plain_model(
    seed: int, semantics: Semantics, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(f"{seed} {semantics}")
    monkeypatch.setattr(kernel_ranking, "SEGMENT", rng.choice((1, 7, 50, 10_000)))
    trips = random_trips(rng)
    layout = lay_out(spans_of(trips), rng.choice((1, 5, 30, 10_000)))

    found = solve(trips, semantics, layout, rng)

    for query, model, shown, named in (
        (1, routes_at, routes_shown, named_routes),
        (2, areas_at, areas_shown, named_areas),
    ):
        expected = answer(trips, model, semantics)  # type: ignore[operator]  # one of two functions
        assert [n for row in chosen(found, query, "passed") for n in row["lines"]] == expected.passed
        assert sorted(row["line"] for row in chosen(found, query, "reject")) == expected.rejected
        tops = [(row["line"], shown(row)) for row in chosen(found, query, "top")]  # type: ignore[operator]
        assert tops == [(n, named(ranks)) for n, ranks in expected.tops]  # type: ignore[operator]
        instants = {row["line"]: row for row in chosen(found, query, "instant")}
        minutes = {row["time_s"]: row for row in chosen(found, query, "minute")}
        assert list(instants) == list(expected.instants)
        assert {m: row["line"] for m, row in minutes.items()} == {
            m: n for m, (n, _) in expected.minutes.items()
        }
        states = [(instants[n], ranks) for n, ranks in expected.instants.items()]
        states += [(minutes[m], ranks) for m, (_, ranks) in expected.minutes.items()]
        for row, ranks in states:
            if query == 1:
                assert routes_shown(row) == named_routes(ranks[:11])
                tied = [route_name(r) for r, count in ranks if len(ranks) > 10 and count == ranks[10][1]]
                assert row["tied"] == tied
            else:
                assert areas_shown(row) == named_areas(with_ties(ranks, 3))


def test_output_rows_are_those_of_the_challenge() -> None:
    """Two trips: the second begins in the area where the first taxi waits."""
    trips = [
        NaiveTrip(1, NOON, NOON - 60, route_number(1001, 2002), "A", 1001, 2002, 950),
        NaiveTrip(2, NOON + 1, NOON - 30, route_number(2002, 1001), "B", 2002, 1001, 501),
        NaiveTrip(3, NOON + 1, NOON - 30, None, "C", 2002, 2002, 600),
    ]
    layout = lay_out(spans_of(trips), 100)

    found = solve(trips, Semantics(), layout, random.Random(1))
    short = solve(trips, Semantics(nulls="per-route"), layout, random.Random(1))

    head = "2013-01-01 11:59:30,2013-01-01 12:00:01"
    assert chosen(found, 1, "top")[1]["row"] == f"{head},2.2,1.1,1.1,2.2" + ",NULL" * 16
    assert chosen(short, 1, "top")[1]["row"] == f"{head},2.2,1.1,1.1,2.2" + ",NULL" * 8
    rows = [row["row"] for row in chosen(found, 2, "top")]
    assert rows == [f"{head},1.1,1,9.500,9.500000,2.2,1,5.010,5.010000" + ",NULL" * 32]
    assert [row["row"] for row in chosen(short, 2, "top")] == [
        f"{head},1.1,1,9.500,9.500000,2.2,1,5.010,5.010000" + ",NULL" * 8
    ]


@pytest.mark.parametrize(
    ("twice_cents", "empty", "text"),
    [
        (1, 1, "0.005,0.005000"),
        (-1, 1, "-0.005,-0.005000"),
        (1901, 3, "9.505,3.168333"),
        (0, 7, "0.000,0.000000"),
    ],
)
def test_money_is_exact(twice_cents: int, empty: int, text: str) -> None:
    assert area_text("1.1", empty, twice_cents) == f"1.1,{empty},{text}"
