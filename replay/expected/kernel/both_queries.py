"""Both queries over one block of trips: the work of one Spark task."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow ships no types

from replay.expected.kernel.answers import AreaAnswers, RouteAnswers
from replay.expected.kernel.areas import EMPTY_WINDOW_S, PROFIT_WINDOW_S, Rides, area_changes
from replay.expected.kernel.block_tables import ANSWER_ARROW, chunks, rows
from replay.expected.kernel.block_trips import BlockTrips, Bounds, block_trips, time_texts
from replay.expected.kernel.ranking import follow
from replay.expected.kernel.routes import route_changes
from replay.expected.kernel.stops import with_leaving
from replay.expected.query1 import WINDOW_S

if TYPE_CHECKING:
    from formats.semantics import Semantics
    from scheduler.base.arrays import IntArray


@dataclass(frozen=True)
class BlockSolver:
    """Answers queries for a block.

    Attributes:
        queries: 1, 2 or both.
        semantics: Settings.
        bounds: By block, what it must know of the others.
    """

    queries: tuple[int, ...]
    semantics: Semantics
    bounds: dict[int, Bounds]

    def solve(self, block: int, table: pa.Table) -> pa.Table:
        """Answer the queries for one block.

        Args:
            block: Number of the block.
            table: Its rows and those of the half hour before it, in any order; columns `n`,
                `dropoff_s`, `pickup_s`, `route` (null where query 1 does not consider the row), `taxi`,
                `start` (null where query 2 does not), `end` and `cents`.

        Returns:
            Columns as in `replay.expected.kernel.block_tables.ANSWER_ARROW`.
        """
        parts = [ANSWER_ARROW.empty_table()]
        for query in self.queries:
            marker = "route" if query == 1 else "start"
            trips = block_trips(table, marker, self.bounds[block], query)
            parts += _answers(block, query, trips, self.semantics)
        return pa.concat_tables(parts)


def _answers(block: int, query: int, trips: BlockTrips, semantics: Semantics) -> list[pa.Table]:
    """Return one query's answers by kind."""
    back = trips.goes_back
    parts = [rows(block, query, "reject", {"line": pa.array(back[:, 0]), "time_s": pa.array(back[:, 1])})]
    if not trips.any_own:
        return parts
    windows = (WINDOW_S,) if query == 1 else (PROFIT_WINDOW_S, EMPTY_WINDOW_S)
    if semantics.expiry == "own-rows":
        trips = replace(trips, stops=with_leaving(trips.stops, windows))
    stops = trips.stops
    answers = _routes(trips, semantics) if query == 1 else _areas(trips, semantics)
    course = follow(stops, answers.changes)
    own = slice(stops.own, None)
    passed = {"lines": chunks(trips.line[own]), "times": chunks(stops.times[own])}
    parts.append(rows(block, query, "passed", passed))
    at = np.array(course.snapshots.stops, dtype=np.int64)
    states = rows(
        block,
        query,
        "instant",
        {
            "line": pa.array(trips.line[stops.row[at]]),
            "time_s": pa.array(stops.clock[at]),
            **answers.states(course.snapshots, stops),
        },
    )
    minute = pa.array(stops.minute[at])
    kinds = pa.compute.if_else(minute, "minute", "instant")
    parts.append(states.set_column(states.schema.get_field_index("kind"), "kind", kinds))
    at = np.array(course.tops.stops, dtype=np.int64)
    leaves, times = stops.leaves[at], stops.clock[at]
    changed = stops.row[at] + leaves  # what leaves between two trips is the later one's
    pickup_s = np.where(leaves, times, trips.table["pickup_s"].to_numpy()[changed])
    pickups, dropoffs = time_texts(pickup_s), time_texts(times)
    first = np.arange(changed.size) == 0
    top = {
        "line": pa.array(trips.line[changed]),
        "time_s": pa.array(times),
        **answers.best(course.tops),
        "first": pa.array(first),
        "row": pa.array(answers.output_rows(course.tops, pickups, dropoffs, semantics.nulls), pa.string()),
    }
    parts.append(rows(block, query, "top", top))
    last = pa.array([answers.labels(course.last)], pa.list_(pa.string()))
    parts.append(rows(block, query, "edge", {"labels": last}))
    return parts


def _routes(trips: BlockTrips, semantics: Semantics) -> RouteAnswers:
    unique, route = np.unique(trips.table["route"].to_numpy(), return_inverse=True)
    by_change = semantics.equal_counts == "latest-change"
    return RouteAnswers(route_changes(trips.stops, route, unique.size, by_change=by_change), unique)


def _areas(trips: BlockTrips, semantics: Semantics) -> AreaAnswers:
    start, end = (trips.table[name].to_numpy() for name in ("start", "end"))
    unique, area = np.unique(np.concatenate([start, end]), return_inverse=True)
    changes, states = area_changes(
        trips.stops,
        Rides(
            taxi=_number(trips.table["taxi"]),
            start=area[: start.size],
            end=area[start.size :],
            cents=trips.table["cents"].to_numpy(),
        ),
        unique.size,
        semantics,
    )
    return AreaAnswers(
        *(changes, states, unique),
        by_value=semantics.q2_emit == "values",
        in_cents=semantics.profitability == "cents",
    )


def _number(names: pa.ChunkedArray) -> IntArray:
    """Return (n,) a whole number per entry, the same for the same name."""
    encoded: IntArray = names.combine_chunks().dictionary_encode().indices.to_numpy().astype(np.int64)
    return encoded
