"""CountByWindow: trips per route in the last 30 minutes."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from topologies.batches.bolt import OrderedBolt
from topologies.batches.clock import Ticks
from topologies.batches.header import Header
from topologies.moments import now_us
from topologies.taxi.components.configured import Configured
from topologies.taxi.trail import extend
from topologies.taxi.window import ChangeWindow, SlidingWindow

if TYPE_CHECKING:
    from collections.abc import Mapping

    from topologies.batches.bolt import Arrived
    from topologies.batches.clock import Step

_ROWS, _CLOCK = "computeRouteID", "metronome"


class CountByWindow(Configured, OrderedBolt):
    """Joins the routes of a share with the progress of time and emits the counts that changed, row by row.

    A change is `n pickup time` and `route count freshest` for each route, joined by blanks; changes are
    joined by line feeds. A row of the share changes something, and so may any row with which the time moves.
    """

    outputs: ClassVar = [*Header.FIELDS, "share", "trail", "ticks", "account", "changes"]
    parts = (_ROWS, _CLOCK)

    def begin(self, header: Header) -> SlidingWindow:
        """Return an empty window, at the clock before the query's start."""
        window = ChangeWindow if self.semantics.equal_counts == "latest-change" else SlidingWindow
        return window(header.query("1").clock_s)

    def work(self, share: int, state: SlidingWindow, header: Header, parts: Mapping[str, Arrived]) -> None:
        """Count the rows of one batch."""
        rows, clock = parts[_ROWS], parts[_CLOCK]
        _, trail, text = rows.values
        _, ticks, account = clock.values
        changes: list[str] = []
        if ticks:
            own_rows = self.semantics.expiry == "own-rows"
            changes = _changes(state, text, Ticks.decode(ticks), own_rows=own_rows)
        trail = extend(trail, rows.came_us, clock.came_us, now_us())
        self.send(header, [share, trail, ticks if share == 0 else "", account, "\n".join(changes)])


def _changes(window: SlidingWindow, text: str, ticks: Ticks, *, own_rows: bool) -> list[str]:
    """Count rows (`n pickup route`) and move the time, in order of the rows.

    With `own_rows` each instant between rows at which trips leave has a change of its own.
    """
    changes: list[str] = []
    steps = iter(ticks.steps)
    step = next(steps, None)
    for row in text.split("\n") if text else ():
        number, pickup, route = row.split(" ")
        n = int(number)
        while step is not None and step.n <= n:
            if own_rows:
                changes += _leave(window, step)
            window.advance(step.time_s, step.n)
            if step.n < n:
                changes += _change(window, f"{step.n} {step.pickup_s}")
            step = next(steps, None)
        if n not in ticks.late:
            window.add(route, n)
            changes += _change(window, f"{number} {pickup}")
    while step is not None:
        if own_rows:
            changes += _leave(window, step)
        window.advance(step.time_s, step.n)
        changes += _change(window, f"{step.n} {step.pickup_s}")
        step = next(steps, None)
    return changes


def _leave(window: SlidingWindow, step: Step) -> list[str]:
    """Let trips go that leave before the time of the step."""
    changes: list[str] = []
    while window.leaves_s() < step.time_s:
        instant_s = int(window.leaves_s())
        window.advance(instant_s, step.n)
        changes += _change(window, f"{step.n} {instant_s}")
    return changes


def _change(window: SlidingWindow, row: str) -> list[str]:
    routes = window.take_changes()
    if not routes:
        return []
    counts = " ".join([f"{route} {count} {freshest}" for route, count, freshest in routes])
    return [f"{row} {window.now_s} {counts}"]
