"""What a block's ranking says, in the words of each query: names, counts, medians, output rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow ships no types

from replay import grid
from replay.expected import query1, query2
from replay.expected.kernel.block_tables import Ragged
from replay.expected.kernel.routes import window_sizes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from replay.expected.kernel.areas import AreaStates
    from replay.expected.kernel.ranking import Changes, Lists
    from replay.expected.kernel.stops import Stops
    from scheduler.base.arrays import BoolArray, FloatArray, IntArray


class RouteAnswers:
    """Query 1: states are routes with counts.

    Attributes:
        changes: The block's changes.
    """

    def __init__(self, changes: Changes, routes: IntArray) -> None:
        self.changes = changes
        self._names = _Names(query1.route_name, routes)

    def states(self, lists: Lists, stops: Stops) -> dict[str, pa.Array]:
        """Return the columns of states: ranks 1 to 11, and all routes tied with rank 11."""
        ragged = Ragged(lists)
        tied = ragged.tied(self.changes.level)
        sizes = window_sizes(stops)[np.array(lists.stops, dtype=np.int64)]
        return {
            "trips": pa.array(sizes),
            **self._ranks(ragged, ragged.first()),
            "tied": ragged.array(tied, self._names.array(self.changes.entity[ragged.states[tied]])),
        }

    def best(self, lists: Lists) -> dict[str, pa.Array]:
        """Return the columns of output rows."""
        ragged = Ragged(lists)
        ranks = self._ranks(ragged, ragged.all())
        return {**ranks, "labels": ranks["names"]}

    def _ranks(self, ragged: Ragged, chosen: BoolArray) -> dict[str, pa.Array]:
        states = ragged.states[chosen]
        return {
            "names": ragged.array(chosen, self._names.array(self.changes.entity[states])),
            "counts": ragged.array(chosen, self.changes.level[states].astype(np.int64)),
        }

    def labels(self, states: Sequence[int]) -> list[str]:
        """Return what differs whenever the ten best are others."""
        return [self._names.of(int(self.changes.entity[state])) for state in states]

    def output_rows(
        self, lists: Lists, pickups: Sequence[str], dropoffs: Sequence[str], nulls: str
    ) -> list[str]:
        """Return the challenge's output rows."""
        texts = self.labels(lists.states)
        return [
            query1.challenge_row(pickup, dropoff, texts[begin:end], nulls)
            for pickup, dropoff, (begin, end) in zip(pickups, dropoffs, _slices(lists), strict=True)
        ]


class AreaAnswers:
    """Query 2: states are areas with empty taxis, median and profitability.

    Attributes:
        changes: The block's changes.
    """

    def __init__(
        self, changes: Changes, states: AreaStates, areas: IntArray, *, by_value: bool, in_cents: bool
    ) -> None:
        self.changes = changes
        self._states = states
        self._names = _Names(grid.name, areas)
        self._by_value = by_value
        self._profitability = query2.cut_text if in_cents else query2.profitability_text

    def states(self, lists: Lists, stops: Stops) -> dict[str, pa.Array]:  # noqa: ARG002 - the queries' one form
        """Return the columns of states: ranks 1 to 11, and behind them all areas tied with rank 11."""
        ragged = Ragged(lists)
        return self._ranks(ragged)

    def best(self, lists: Lists) -> dict[str, pa.Array]:
        """Return the columns of output rows."""
        ragged = Ragged(lists)
        texts = pa.array(self.labels(lists.states), pa.string())
        return {**self._ranks(ragged), "labels": ragged.array(ragged.all(), texts)}

    def _ranks(self, ragged: Ragged) -> dict[str, pa.Array]:
        chosen = ragged.all()
        empty, twice = self._states.empty[ragged.states], self._states.twice_median[ragged.states]
        names = self._names.array(self.changes.entity[ragged.states])
        return {
            "names": ragged.array(chosen, names),
            "counts": ragged.array(chosen, empty),
            "medians": ragged.array(chosen, twice / 200),
            "profitabilities": ragged.array(chosen, _as_printed(twice, empty, self._profitability)),
        }

    def labels(self, states: Sequence[int]) -> list[str]:
        """Return what differs whenever the ten best are others."""
        return self._texts(states) if self._by_value else self._areas(states)

    def _areas(self, states: Sequence[int]) -> list[str]:
        return [self._names.of(int(self.changes.entity[state])) for state in states]

    def _texts(self, states: Sequence[int]) -> list[str]:
        empty = self._states.empty[list(states)].tolist()
        twice = self._states.twice_median[list(states)].tolist()
        values = zip(self._areas(states), empty, twice, strict=True)
        return [query2.area_text(*each, self._profitability) for each in values]

    def output_rows(
        self, lists: Lists, pickups: Sequence[str], dropoffs: Sequence[str], nulls: str
    ) -> list[str]:
        """Return the challenge's output rows."""
        texts = self._texts(lists.states)
        return [
            query2.challenge_row(pickup, dropoff, texts[begin:end], nulls)
            for pickup, dropoff, (begin, end) in zip(pickups, dropoffs, _slices(lists), strict=True)
        ]


def _as_printed(
    twice_cents: IntArray, empty: IntArray, profitability: Callable[[int, int], str]
) -> FloatArray:
    """Return profitabilities as they are printed; few different ones occur, so each is printed once."""
    pairs, places = np.unique(np.stack([twice_cents, empty]), axis=1, return_inverse=True)
    texts = [profitability(*pair) for pair in pairs.T.tolist()]
    printed: FloatArray = np.array(texts, dtype=np.float64)[places.ravel()]
    return printed


def _slices(lists: Lists) -> list[tuple[int, int]]:
    ends = np.cumsum(np.array(lists.sizes, dtype=np.int64))
    begins = ends - np.array(lists.sizes, dtype=np.int64)
    return list(zip(begins.tolist(), ends.tolist(), strict=True))


class _Names:
    """Names of entities, made for those only that are asked for: few of all are ever among the best."""

    def __init__(self, name: Callable[[int], str], numbers: IntArray) -> None:
        self._name = name
        self._numbers = numbers
        self._known: dict[int, str] = {}

    def of(self, entity: int) -> str:
        """Return the name of one entity."""
        name = self._known.get(entity)
        if name is None:
            name = self._known[entity] = self._name(int(self._numbers[entity]))
        return name

    def array(self, entities: IntArray) -> pa.Array:
        """Return the names of (n,) entities."""
        unique, places = np.unique(entities, return_inverse=True)
        names = pa.array([self.of(int(entity)) for entity in unique], pa.string())
        return names.take(pa.array(places))
