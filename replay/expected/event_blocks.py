"""Blocks of event time that can be worked on independently: each with the half hour that precedes it.

Time is cut into spans of ten minutes, (k x 600 s, (k + 1) x 600 s]. A block is a run of spans with about as
many rows as one task should have at once; it also gets the rows of the three spans before it, which hold all
that its windows reach back to. The driver sees one small row per span (52,560 for a year), never the trips.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documents use

from replay.expected.kernel.block_trips import Bounds

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyspark.sql import Column, DataFrame, SparkSession

    from formats.semantics import Semantics

SPAN_S = 600
HISTORY_SPANS = 3
#: Rows of a block: the more, the less of the work is history; a task takes some 2.5 kB per row at its peak.
LARGEST_BLOCK = 120_000
SMALLEST_BLOCK = 25_000
_BLOCKS_PER_CORE = 4


@dataclass(frozen=True)
class Span:
    """What a span of ten minutes holds.

    Attributes:
        number: Its drop-offs lie in (number x 600 s, (number + 1) x 600 s].
        rows: Rows that any query considers.
        first: By query, the number of the first row in the stream that it considers; None if there is none.
    """

    number: int
    rows: int
    first: dict[int, int | None]


@dataclass(frozen=True)
class Layout:
    """Which spans belong to which block.

    Attributes:
        members: (span, block): own spans of each block and those before it that it needs.
        bounds: By block, what it must know of the others.
    """

    members: list[tuple[int, int]]
    bounds: dict[int, Bounds]


def block_rows(rows: int, cores: int) -> int:
    """Return how many rows a block should have: few enough blocks, but several for each core."""
    return min(LARGEST_BLOCK, max(SMALLEST_BLOCK, rows // (cores * _BLOCKS_PER_CORE)))


def span(dropoff_s: str) -> Column:
    """Return the span of a column of drop-off times in seconds."""
    return F.floor((F.col(dropoff_s) - 1) / SPAN_S).cast("bigint")


def history_spans(semantics: Semantics) -> int:
    """Return how many spans before a block decide what its answers are.

    A trip that left puts its route in front as long as the route's other trips are in the window: they may
    have come half an hour after it, and stay for half an hour.
    """
    return HISTORY_SPANS if semantics.equal_counts == "freshest-trip" else 2 * HISTORY_SPANS


def lay_out(
    spans: Iterable[Span], rows: int, history: int = HISTORY_SPANS, *, from_last_row: bool = False
) -> Layout:
    """Cut spans into blocks of about `rows` rows; one span is never cut.

    Args:
        spans: All spans with rows, in any order.
        rows: A block ends with the span that brings it there.
        history: Spans before a block that it needs.
        from_last_row: It needs them before the last row that counts before the block, however long ago: what
            leaves the windows between that row and the block's first is the block's to find out.
    """
    ordered = sorted(spans, key=lambda each: each.number)
    blocks: list[list[Span]] = []
    size = rows
    for each in ordered:
        if size >= rows:
            blocks.append([])
            size = 0
        blocks[-1].append(each)
        size += each.rows
    known = {each.number for each in ordered}
    counting = _counting(ordered) if from_last_row else []
    members: list[tuple[int, int]] = []
    bounds: dict[int, Bounds] = {}
    later: dict[int, int | None] = dict.fromkeys(ordered[0].first) if ordered else {}
    for number, own in reversed(list(enumerate(blocks))):
        begin = own[0].number
        lasts = [held[bisect_left(held, begin) - 1] for held in counting if held and held[0] < begin]
        before = range(min([begin, *lasts]) - history, begin)
        members += [(each, number) for each in before if each in known]
        members += [(each.number, number) for each in own]
        bounds[number] = Bounds(begin * SPAN_S, later)
        later = {query: _first([later[query], *(each.first[query] for each in own)]) for query in later}
    return Layout(members, dict(sorted(bounds.items())))


def _counting(ordered: list[Span]) -> list[list[int]]:
    """Return by query the spans with a row that counts: one before which no row of a later span came."""
    counting: dict[int, list[int]] = {}
    later: dict[int, int] = {}
    for each in reversed(ordered):
        for query, first in each.first.items():
            if first is not None and first < later.get(query, first + 1):
                counting.setdefault(query, []).append(each.number)
                later[query] = first
    return [held[::-1] for held in counting.values()]


def _first(rows: Iterable[int | None]) -> int | None:
    return min((row for row in rows if row is not None), default=None)


def with_history(spark: SparkSession, rows: DataFrame, layout: Layout) -> DataFrame:
    """Give each row to its block and to every later block that needs it as history.

    Args:
        spark: Session.
        rows: Column `dropoff_s` and any others.
        layout: Blocks.

    Returns:
        The rows with `block`, in as many partitions as there are blocks; a row occurs once per block.
    """
    members = spark.createDataFrame(layout.members, "_span bigint, block bigint")
    joined = rows.withColumn("_span", span("dropoff_s")).join(F.broadcast(members), "_span").drop("_span")
    return joined.repartition(max(1, len(layout.bounds)), "block")
