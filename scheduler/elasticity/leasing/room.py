"""Where one more executor can go, if need be in place of others (paper 003, Fig. 4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scheduler.elasticity.leasing.growing import Room

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from scheduler.elasticity.leasing.component import Component
    from scheduler.elasticity.leasing.draft import Draft
    from scheduler.elasticity.leasing.host import Host
    from scheduler.elasticity.leasing.situation import Situation


@dataclass(frozen=True)
class Search:
    """Looks for room within one plan.

    Attributes:
        situation: The round.
        before: Executors of each component when the plan began, of which only a share may be taken away.
        targets: Names of hosts that may take executors, the oldest lease first.
    """

    situation: Situation
    before: Mapping[str, int]
    targets: tuple[str, ...]

    @classmethod
    def within(cls, draft: Draft, situation: Situation, targets: Iterable[str]) -> Search:
        """Begin a plan."""
        before = {each: draft.executors(each) for each in situation.parameters.by_name}
        return cls(situation, before, tuple(targets))

    def room(self, draft: Draft, component: Component) -> Room | None:
        """Return the host with the best score; if there is none, one on which executors of others stop.

        The component that suits best loses an executor until the new one fits. Which of its executors goes,
        and what becomes of those that went in vain, the paper leaves open: it is the one whose host then
        suits the new executor best, and in the end only those on its host stop.
        """
        host = self._best_host(draft, component)
        if host is not None:
            return Room(draft, host)
        thinned, stops = draft, list[tuple[str, str]]()
        while host is None:
            stop = self._next_stop(thinned, component)
            if stop is None:
                return None
            stops.append(stop)
            thinned = thinned.stopped(*stop)
            host = self._best_host(thinned, component)
        for other, where in stops:
            if where == host:
                draft = draft.stopped(other, where).because(
                    "shrunk", other, f"an executor on {where} makes room for {component.name}"
                )
        return Room(draft, host)

    def _best_host(self, draft: Draft, component: Component) -> str | None:
        scores = {each: self.situation.host_score(draft.hosts[each], component) for each in self.targets}
        suitable = [each for each in self.targets if scores[each] >= 0.0]
        return min(suitable, key=scores.__getitem__) if suitable else None

    def _next_stop(self, draft: Draft, component: Component) -> tuple[str, str] | None:
        """Return which executor of another component is to stop next, and where; None if there is none."""
        for other in self.situation.most_removable(draft):
            if other.name == component.name:
                continue
            if self.situation.drops_left(draft, other, self.before[other.name]) < 1:
                continue
            after = {
                each: draft.hosts[each].with_one_less(other.name)
                for each in self.targets
                if draft.hosts[each].count(other.name)
            }
            if after:
                return other.name, min(after, key=lambda each: self._suitability(after[each], component))
        return None

    def _suitability(self, host: Host, component: Component) -> tuple[bool, float]:
        """Return a key, least for the host that suits best: by its score, else by how much is missing."""
        score = self.situation.host_score(host, component)
        return (False, score) if score >= 0.0 else (True, -self.situation.fits(host, component))
