"""Parser and filterByCoordinates: from lines to trips that may count."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from streamparse import Stream

from topologies.batches.bolt import BatchBolt
from topologies.batches.header import Header
from topologies.moments import now_us
from topologies.taxi.components.configured import Configured
from topologies.taxi.settings import queries_of
from topologies.taxi.sieve import area_sieve, route_sieve
from topologies.taxi.trail import extend
from topologies.taxi.trip import LineReader

if TYPE_CHECKING:
    from collections.abc import Sequence

    from topologies.taxi.sieve import Sieve

PROGRESS = "progress"
"""Stream from filterByCoordinates to metronome."""

AREAS = "areas"
"""Stream from filterByCoordinates to computeAreaID."""

AREA_PROGRESS = "areaProgress"
"""Stream from filterByCoordinates to areaMetronome."""


class Parser(Configured, BatchBolt):
    """Reads lines. One that is no trip goes on as its reason, so that no row is missing.

    Coordinates and amounts stay text: the JVM between two components must not round them.
    """

    outputs: ClassVar = [*Header.FIELDS, "trail", "entries", "end", "rows"]

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        """Read what has to be extracted."""
        super().initialize(storm_conf, context)
        self._reader = LineReader(queries_of(storm_conf), self.semantics)

    def work(self, header: Header, values: Sequence[Any], came_us: int) -> None:
        """Read the lines of one batch."""
        trail, entries, end, lines = values
        rows = "" if end else "\n".join(map(self._reader.read, lines.split("\n")))
        self.send(header, [extend(trail, came_us, now_us()), entries, end, rows])


class FilterByCoordinates(Configured, BatchBolt):
    """Passes trips with both ends on the grid, for each query by its own sieve.

    The times of all rows go to the query's clock, with the reasons of those that do not pass.
    """

    outputs: ClassVar = [
        Stream(fields=[*Header.FIELDS, "trail", "rows"]),
        Stream(fields=[*Header.FIELDS, "entries", "end", "times"], name=PROGRESS),
        Stream(fields=[*Header.FIELDS, "trail", "rows"], name=AREAS),
        Stream(fields=[*Header.FIELDS, "entries", "end", "times"], name=AREA_PROGRESS),
    ]

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        """Read which queries there are, and their choices."""
        super().initialize(storm_conf, context)
        self._ways: list[tuple[str, Sieve, str | None, str]] = []
        if "1" in queries_of(storm_conf):
            self._ways.append(("1", route_sieve(), None, PROGRESS))
        if "2" in queries_of(storm_conf):
            self._ways.append(("2", area_sieve(self.semantics), AREAS, AREA_PROGRESS))

    def work(self, header: Header, values: Sequence[Any], came_us: int) -> None:
        """Pass the rows of one batch; rows before a query's start in the epoch are not its own."""
        trail, entries, end, text = values
        rows = [row.split(",") for row in text.split("\n")] if text else []
        for query, sieve, stream, progress in self._ways:
            passing, times = sieve.sift(header.first, rows if header.serves(query) else [])
            self.send(header, [extend(trail, came_us, now_us()), "\n".join(passing)], stream)
            self.send(header, [entries, end, " ".join(times)], progress)
