"""One topology as the rates collector follows it. No clock and no network here."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from formats.rates_reading import LIFETIME_S
from monitoring.host_pairs import NamedPairs
from monitoring.rates.history import WINDOW_S, ExecutorHistory
from monitoring.rates.rates_reading import Measured, Rates, derive
from monitoring.steady import SteadyFigures

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from monitoring.rates.counters import ExecutorLook, Shape

TORN_AFTER_S = LIFETIME_S / 2
"""Age from which a whole reading gives way to one with executors missing, and time that a new topology has
for its first whole one. Executors that were just started or moved have no statistics for a while; what the
whole topology did a minute ago says more than a part of it does now."""


@dataclass(frozen=True, slots=True)
class Step:
    """What one look at a topology has brought.

    Attributes:
        rates: What is to be published now, with the pairs of hosts to be named and steady figures of busy
            components; None if nothing new is known.
        faults: What makes statistics unusable -> names of their executors; only what was not so before.
        faulty: Number of executors whose statistics cannot be used, by kind of fault.
        missing: Executors without statistics, as in `Rates`; None if no executor has any.
    """

    rates: Rates | None
    faults: dict[str, tuple[str, ...]]
    faulty: Mapping[str, int]
    missing: tuple[str, ...] | None


class TopologyRates:
    """Follows the executors of one topology.

    Args:
        shape: Who subscribes to what.
        window_s: Length of the sliding window, s.
    """

    def __init__(self, shape: Shape, window_s: float = WINDOW_S) -> None:
        self.shape = shape
        self._window_s = window_s
        self._histories: dict[tuple[str, int, int], ExecutorHistory] = {}
        self._faults: set[str] = set()
        self._named = NamedPairs()
        self._busy = SteadyFigures[str]()
        self._whole_at_s = math.inf

    def look(self, now_s: float, looks: Sequence[ExecutorLook]) -> Step:
        """Take what one look at Nimbus has shown.

        Args:
            now_s: Time of the look, s of a clock that does not go back.
            looks: Every executor that has a slot.
        """
        if self._whole_at_s == math.inf:
            self._whole_at_s = now_s
        former = self._histories
        self._histories = {}
        measured = []
        refreshed = False
        for one in looks:
            key = (one.component, one.first_task, one.last_task)
            history = former.get(key) or ExecutorHistory(self._window_s)
            self._histories[key] = history
            if one.counters is not None:
                refreshed |= history.look(now_s, (one.host, one.port), one.counters)
            if one.counters is None:
                history.look_in_vain(now_s)
                measured.append(Measured(one, None))
                continue
            start_s = history.start_s
            running_s = None if start_s is None else now_s - start_s
            measured.append(
                Measured(
                    one,
                    history.window(now_s),
                    running_s,
                    _since(running_s, history.worked_after_s),
                    _since(running_s, history.ready_after_s),
                )
            )
        rates = derive(self.shape, measured)
        return Step(
            rates=self._to_publish(now_s, rates) if refreshed and rates is not None else None,
            faults=self._new_faults(looks),
            faulty=Counter(one.fault_kind for one in looks if one.fault),
            missing=None if rates is None else rates.missing,
        )

    def _to_publish(self, now_s: float, rates: Rates) -> Rates | None:
        if rates.complete:
            self._whole_at_s = now_s
        elif now_s - self._whole_at_s < TORN_AFTER_S:
            return None
        return replace(
            rates, host_pairs=self._named.choose(rates.host_pairs), busy=self._busy.hold(rates.busy)
        )

    def _new_faults(self, looks: Sequence[ExecutorLook]) -> dict[str, tuple[str, ...]]:
        """Return the faults that were not there before; one that went away may be named again."""
        present = {one.fault for one in looks if one.fault}
        new, self._faults = present - self._faults, present
        return {fault: tuple(one.name for one in looks if one.fault == fault) for fault in sorted(new)}


def _since(running_s: float | None, after_s: float | None) -> float | None:
    """Return how long ago something happened so long after the start of a worker; None if it is not known."""
    return None if running_s is None or after_s is None else running_s - after_s
