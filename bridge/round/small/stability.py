"""A topology moves only for a gain that lasts, and not too often: stabilisation and cool-down in one round.

Only moves for a gain wait. What is watched is one placement, not just any gain: under noise some placement
looks better in nearly every round, but hardly ever the same one.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bridge.round.memory import Change, Memory, TopologyMemory, Watched
from bridge.round.small.looks import Looks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bridge.problem.assignment import Assignment
    from bridge.problem.occupancy import RoundState
    from bridge.settings import MoveSettings


@dataclass(frozen=True, slots=True)
class Wait:
    """A gain that waits.

    Attributes:
        gain: As a fraction.
        seen_s: Time for which it has been seen, s.
        cooling_s: Time for which its topology still cools down, s.
    """

    gain: float
    seen_s: float
    cooling_s: float


class Stability:
    """What one round remembers, and what it learns, about the moves of its topologies.

    Args:
        state: The cluster so far.
        settings: How long gains and topologies wait, and the least gains.
        memory: What the round before handed on.
        now_s: Time of the round, on the clock of the memory.
        cool_down_s: Time for which each topology cools down by itself, s; None, or none at all: 0.

    Attributes:
        settings: How long gains and topologies wait, and the least gains.
        looks: When gains are looked for.
    """

    def __init__(
        self,
        state: RoundState,
        settings: MoveSettings,
        memory: Memory,
        now_s: float,
        cool_down_s: Sequence[float | None] = (),
    ) -> None:
        self._state = state
        self.settings = settings
        self._now_s = now_s
        known = {each.id: each for each in memory.topologies}
        ids = [topology.id for topology in state.request.topologies]
        self._past = [known.get(each, TopologyMemory(each)) for each in ids]
        self._cool_down_s = cool_down_s or [None] * len(ids)
        self.looks = Looks(state, self._past, now_s)
        self._changes = [self._valid_change(index) for index in range(len(ids))]
        self._watched = [self._valid_watched(index) for index in range(len(ids))]
        self._released: set[int] = set()
        self._waits: dict[int, Wait] = {}

    def watched(self, topology: int) -> Watched | None:
        """Return the placement of a topology that is being watched."""
        return self._watched[topology]

    def begun(self, topology: int) -> Watched | None:
        """Return the placement that an earlier part of a change leads to, None if there is none."""
        watched = self._watched[topology]
        return watched if watched is not None and watched.began else None

    def begin(self, topology: int, hosts: tuple[str, ...], began: tuple[str, ...]) -> None:
        """Hold on to a placement that takes several rounds: the next ones go on without waiting.

        Args:
            topology: Index of the topology.
            hosts: Name of the host of each executor in the end.
            began: Name of the host of each executor before the first of these rounds.
        """
        self._watched[topology] = Watched(hosts, self._now_s, began)
        self._waits.pop(topology, None)

    def forget(self, topology: int) -> None:
        """Watch nothing for a topology any more: no gain was seen."""
        self._watched[topology] = None
        self._waits.pop(topology, None)

    def lose(self, topology: int) -> None:
        """Let another placement take over from the watched one, which cannot be had any more.

        A host that is gone or room that is taken refutes no gain: the next candidate need not wait from zero.
        """
        watched = self._watched[topology]
        self._watched[topology] = watched and replace(watched, hosts=())

    def why_wait(self, topology: int, hosts: tuple[str, ...], gain: float, what: str = "a gain") -> str:
        """Watch a placement whose gain passes the thresholds, and say why it has to wait.

        Args:
            topology: Index of the topology.
            hosts: Name of the host of each executor.
            gain: Gain as a fraction.
            what: What has to wait.

        Returns:
            A phrase for the status line, empty if the topology may move in this round.
        """
        watched = self._watched[topology]
        known = watched is not None and watched.hosts in {hosts, ()}
        watched = Watched(hosts, watched.since_s if watched is not None and known else self._now_s)
        # Without stabilisation there is nothing to hold on to: the best candidate of each round counts.
        self._watched[topology] = watched if self.settings.stabilisation_s > 0 else None
        moves = topology in self._released and self._changed(topology)
        if moves or all(slot is None for slot in self._state.initial(topology)):
            # It restarts in this round anyway: what else there is to gain costs nothing more.
            self._waits.pop(topology, None)
            return ""
        cooling_s = self._cooling_s(topology)
        seen_s = max(self._now_s - watched.since_s, 0.0)
        self._waits[topology] = Wait(gain, seen_s, cooling_s)
        # Nimbus logs each change of a status: how long it still takes stands in the daemon's log.
        if cooling_s > 0:
            return f"{what} waits until {self._longest_s(topology):g} s after the last change"
        if seen_s < self.settings.stabilisation_s:
            return f"{what} waits until it has been seen for {self.settings.stabilisation_s:g} s"
        del self._waits[topology]
        self._released.add(topology)
        return ""

    @property
    def waits(self) -> Mapping[int, Wait]:
        """What waits in this round, by index of the topology."""
        return self._waits

    def memory(self) -> Memory:
        """Return what the next round has to know."""
        entries = [self._entry(index) for index in range(len(self._past))]
        kept = [entry for entry in entries if not entry.is_empty]
        return Memory(tuple(sorted(kept, key=lambda entry: entry.id)))

    def _entry(self, topology: int) -> TopologyMemory:
        name = self._past[topology].id
        begun = self.begun(topology)
        if self._changed(topology):
            digest = self._digest(self._state.assignment(topology))
            return TopologyMemory(name, Change(self._now_s, digest), begun, self.looks.last(topology))
        # A change that has cooled down decides nothing any more, unless there is more of it to come.
        change = self._changes[topology] if begun or self._cooling_s(topology) > 0 else None
        return TopologyMemory(name, change, self._watched[topology], self.looks.last(topology))

    def _changed(self, topology: int) -> bool:
        return self._state.assignment(topology) != self._state.initial(topology)

    def _cooling_s(self, topology: int) -> float:
        """Seconds for which the topology has to cool down, none if 0."""
        change = self._changes[topology]
        if self._changed(topology):
            return self._longest_s(topology)
        if change is None:
            return 0.0
        return max(self._longest_s(topology) - max(self._now_s - change.time_s, 0.0), 0.0)

    def _longest_s(self, topology: int) -> float:
        return max(self.settings.cool_down_s, self._cool_down_s[topology] or 0.0)

    def _valid_change(self, topology: int) -> Change | None:
        """Return the last change if the cluster shows that it was carried out."""
        change = self._past[topology].change
        if change is None or change.digest != self._digest(self._state.initial(topology)):
            return None
        return change

    def _valid_watched(self, topology: int) -> Watched | None:
        """Return what is watched, without a sequence of moves whose last one was not carried out."""
        watched = self._past[topology].watched
        if watched is not None and watched.began and self._changes[topology] is None:
            return None
        return watched

    def _digest(self, assignment: Assignment) -> str:
        supervisors = self._state.request.supervisors
        first: dict[tuple[int, int] | None, int] = {}
        for executor, slot in enumerate(assignment):
            first.setdefault(slot, executor)
        # not by ports: a worker that starts anew may get another one
        workers = ("" if slot is None else f"{supervisors[slot[0]].id}:{first[slot]}" for slot in assignment)
        return hashlib.sha256("\n".join(workers).encode()).hexdigest()


def percent(fraction: float) -> str:
    """Return a fraction as a whole number of percent."""
    return f"{fraction * 100:.0f} %"
