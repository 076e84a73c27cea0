"""A change for a gain: carried out in one round, in several if it restarts more than one allows, or refused.

The first round waits as every move for a gain does. The next ones go on at once, as the rest of one change,
as long as the whole of it still gains enough against where it began, and the rest of it gains anything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bridge.round.small.candidate import placement_on, weigh, why_too_little
from bridge.round.small.partial_moves import MOST_ROUNDS, split
from bridge.round.small.stability import percent
from bridge.round.small.verdict import Verdict
from scheduler.evaluation.evaluate import evaluate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bridge.round.memory import Watched
    from bridge.round.small.candidate import Candidate, Running
    from bridge.round.small.partial_moves import Part
    from bridge.round.small.search import Answer, Search
    from bridge.round.small.sight import Sight
    from bridge.round.small.stability import Stability
    from scheduler.contract.result import Result

# Nimbus logs each change of a status, and noise changes which candidate is the best: settings are named, and
# no number of its executors.
_ENOUGH = "best candidate gains enough but restarts"


class SeveralRounds:
    """Changes of one topology that may need several rounds.

    Args:
        running: The topology.
        search: Gives the topology its time.
        stability: Remembers what has begun.
        restarts_left: Running executors that may still restart in this round.
    """

    def __init__(self, running: Running, search: Search, stability: Stability, restarts_left: int) -> None:
        self._running = running
        self._search = search
        self._stability = stability
        self._left = restarts_left
        self._most = stability.settings.max_restarts_per_round
        self._refusals: dict[tuple[int, ...], str] = {}

    def why_never(self, candidate: Candidate) -> str:
        """Say why no number of rounds carries a candidate out; empty if one or several do."""
        if candidate.restarts <= self._most:
            return ""
        if candidate.placement not in self._refusals:
            parts = self._split(candidate.placement, self._most)
            self._refusals[candidate.placement] = "" if parts else self._refusal(candidate)
        return self._refusals[candidate.placement]

    def carry_out(self, candidate: Candidate, answer: Answer) -> Verdict:
        """Carry out a candidate, or the first part of one that restarts more than one round allows."""
        running, result = self._running, answer.result
        if candidate.restarts > self._most:
            return self._begin(candidate, result)
        if candidate.restarts > self._left:
            reason = f"{self._waiting()} ({result.author})"
            return Verdict("kept", reason, result=result, evaluation=running.before)
        gain = running.saving(candidate.placement)
        reason = f"moved by {result.author} for a gain of {percent(gain)}"
        after = candidate.evaluation
        return Verdict("moved", reason, candidate.placement, result, gain, after, least=answer.least)

    def _begin(self, candidate: Candidate, result: Result) -> Verdict:
        running, topology = self._running, self._running.task.index
        hosts = running.state.hosts_of(running.state.assignment(topology))
        began = running.names([host for host in hosts if host is not None])
        parts = self._split(candidate.placement, self._left)
        if not parts:
            reason = f"{self._waiting()} ({result.author})"
            return Verdict("kept", reason, result=result, evaluation=running.before)
        if len(parts) > 1:
            self._stability.begin(topology, running.names(candidate.placement), began)
        return self._moved(parts, candidate, result)

    def go_on(self, begun: Watched, sight: Sight) -> Verdict:
        """Carry out the next part of a change that an earlier round began, or stop it."""
        running, stability = self._running, self._stability
        topology = running.task.index
        placement = placement_on(running, begun.hosts)
        candidate = None if placement is None else weigh(running, placement)
        reason = self._why_stop(candidate, begun, sight)
        if candidate is None or reason:
            stability.forget(topology)
            ended = f"a change in several rounds ends here, {reason}"
            return Verdict("kept", ended, evaluation=running.before)
        parts = self._split(candidate.placement, self._left)
        if not parts:
            reason = self.why_never(candidate)
            if reason:
                stability.forget(topology)
            return Verdict("kept", reason or self._waiting(), evaluation=running.before)
        return self._moved(parts, candidate, None)

    def _why_stop(self, candidate: Candidate | None, begun: Watched, sight: Sight) -> str:
        """Say why the rest of a change is not worth its restarts any more; empty if it is."""
        problem = self._running.question.problem
        if candidate is None:
            return "its hosts cannot be had any more"
        if candidate.gain <= 0:
            return "there is nothing left to gain"
        origin = self._running.nodes_named(begun.began)
        if origin is not None:
            whole = self._running.gains_from(origin, candidate.placement)
            if why_too_little(*whole, self._stability.settings):
                return "its gain is gone"
        return sight.why_not(problem, candidate.placement)

    def _moved(self, parts: Sequence[Part], candidate: Candidate, result: Result | None) -> Verdict:
        """Return the verdict that carries out the first of some parts."""
        running, part = self._running, parts[0]
        after = evaluate(running.question.problem, running.question.frame.nodes_of(part.placement))
        gain = running.saving(part.placement)
        author = "the plan of an earlier round" if result is None else result.author
        reason = f"moved by {author} for a gain of {percent(gain)}"
        if len(parts) > 1:
            rounds = f"{len(parts) - 1} more round{'s' if len(parts) > 2 else ''}"
            reason += f", one of {percent(running.saving(candidate.placement))} takes {rounds}"
        return Verdict("moved", reason, part.placement, result, gain, after, apart=part.apart)

    def _split(self, placement: tuple[int, ...], left: int) -> tuple[Part, ...]:
        running = self._running
        first = left + running.state.restarts(running.task.index)
        with self._search.limited(running.task) as limit:
            return split(
                running.state,
                running.task,
                running.question,
                placement,
                first=first,
                later=self._most,
                deadline=limit.deadline,
            )

    def _waiting(self) -> str:
        return f"{_ENOUGH} more executors than may still restart in this round, {self._most} in all"

    def _refusal(self, candidate: Candidate) -> str:
        """Say how many rounds a candidate would take at least, and that they cannot be had."""
        if self._most == 0:
            return f"{_ENOUGH} executors, 0 may restart in a round"
        rounds = -(-candidate.restarts // self._most)
        return (
            f"{_ENOUGH} more executors than the {self._most} that may restart in a round: "
            f"it would take {rounds} rounds or more, "
            f"and no {MOST_ROUNDS} that each leave it no worse lead there"
        )
