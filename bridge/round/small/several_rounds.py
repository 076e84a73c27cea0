"""A change for a gain: carried out in one round, in several if it restarts more than one allows, or refused.

The first round waits as every move for a gain does. The next ones go on at once, as the rest of one change,
as long as the whole of it still gains enough against where it began, and the rest of it gains anything.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bridge.round.small.candidate import placement_on, weigh
from bridge.round.small.partial_moves import MOST_ROUNDS, split
from bridge.round.small.round_limits import RoundLimits
from bridge.round.small.stability import percent
from bridge.round.small.verdict import Verdict
from formats.counted import counted
from scheduler.evaluation.evaluate import evaluate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bridge.round.memory import Watched
    from bridge.round.small.candidate import Candidate, Running
    from bridge.round.small.joining import Allowance
    from bridge.round.small.partial_moves import Part
    from bridge.round.small.search import Answer, Search
    from bridge.round.small.sight import Sight
    from bridge.round.small.stability import Stability
    from scheduler.contract.result import Result

# Nimbus logs each change of a status, and noise changes which candidate is the best: settings are named, and
# no number of its executors.
_ENOUGH = "best candidate gains enough but"


class SeveralRounds:
    """Changes of one topology that may need several rounds.

    Args:
        running: The topology.
        search: Gives the topology its time.
        stability: Remembers what has begun.
        allowance: What the round may still restart.
    """

    def __init__(self, running: Running, search: Search, stability: Stability, allowance: Allowance) -> None:
        self._running = running
        self._search = search
        self._stability = stability
        own, most = running.task.settings, stability.settings.max_restarts_per_round
        spent = running.state.restarts(running.task.index)
        budgets = allowance.budgets
        # What exceeds the budget of an hour goes on in the next one.
        self._later = RoundLimits(most, most, own.replan_moves_max, own.replan_workers_max, budgets.unspent)
        # What the topology restarts already restarts once, whatever else is decided.
        self._full = replace(self._later, restarts=most + spent)
        self._now = replace(self._later, restarts=allowance.restarts_left + spent, budgets=budgets)
        self._refusals: dict[tuple[int, ...], str] = {}

    def why_never(self, candidate: Candidate) -> str:
        """Say why no number of rounds carries a candidate out; empty if one or several do."""
        excess = self._excess(candidate, self._full)
        if not excess:
            return ""
        if candidate.placement not in self._refusals:
            parts = self._split(candidate.placement, self._full)
            self._refusals[candidate.placement] = "" if parts else self._refusal(candidate, excess)
        return self._refusals[candidate.placement]

    def carry_out(self, candidate: Candidate, answer: Answer) -> Verdict:
        """Carry out a candidate, or the first part of one that restarts more than one round allows."""
        running, result = self._running, answer.result
        if self._excess(candidate, self._full):
            return self._begin(candidate, result)
        excess = self._excess(candidate, self._now)
        if excess:
            return self._waiting(excess, result)
        reason = f"moved by {result.author} {running.why_moved(candidate.placement)}"
        return running.moved(reason, candidate.placement, result, candidate.evaluation, least=answer.least)

    def _begin(self, candidate: Candidate, result: Result) -> Verdict:
        running, topology = self._running, self._running.task.index
        hosts = running.state.hosts_of(running.state.assignment(topology))
        began = running.names([host for host in hosts if host is not None])
        parts = self._split(candidate.placement, self._now)
        if not parts:
            return self._waiting(self._excess(candidate, self._now), result)
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
        parts = self._split(candidate.placement, self._now)
        if not parts:
            reason = self.why_never(candidate)
            if reason:
                stability.forget(topology)
                return Verdict("kept", reason, evaluation=running.before)
            return self._waiting(self._excess(candidate, self._now))
        return self._moved(parts, candidate, None)

    def _why_stop(self, candidate: Candidate | None, begun: Watched, sight: Sight) -> str:
        """Say why the rest of a change is not worth its restarts any more; empty if it is."""
        problem = self._running.question.problem
        if candidate is None:
            return "its hosts cannot be had any more"
        if candidate.gain.fraction <= 0:
            return "there is nothing left to gain"
        origin = self._running.nodes_named(begun.began)
        if origin is not None:
            whole = self._running.gains_from(origin, candidate.placement)
            if self._running.why_not(whole):
                return "its gain is gone"
        return sight.why_not(problem, candidate.placement)

    def _moved(self, parts: Sequence[Part], candidate: Candidate, result: Result | None) -> Verdict:
        """Return the verdict that carries out the first of some parts."""
        running, part = self._running, parts[0]
        after = evaluate(running.question.problem, running.question.frame.nodes_of(part.placement))
        author = "the plan of an earlier round" if result is None else result.author
        reason = f"moved by {author} {running.why_moved(part.placement)}"
        if len(parts) > 1:
            rounds = counted(len(parts) - 1, "more round")
            reason += f", one of {percent(running.saving(candidate.placement))} takes {rounds}"
        return running.moved(reason, part.placement, result, after, apart=part.apart)

    def _split(self, placement: tuple[int, ...], first: RoundLimits) -> tuple[Part, ...]:
        running = self._running
        with self._search.limited(running.task) as limit:
            return split(
                running.state,
                running.task,
                running.question,
                placement,
                first=first,
                later=self._later,
                deadline=limit.deadline,
            )

    def _excess(self, candidate: Candidate, limits: RoundLimits) -> str:
        """Say which limit a candidate exceeds if it is carried out in one round; empty if none."""
        return limits.why_not(self._running.state, self._running.task.index, candidate.slots)

    def _waiting(self, excess: str, result: Result | None = None) -> Verdict:
        author = "" if result is None else f" ({result.author})"
        reason = self._running.said(f"{_ENOUGH} {excess or self._now.spent}{author}")
        return Verdict("kept", reason, result=result, evaluation=self._running.before)

    def _refusal(self, candidate: Candidate, excess: str) -> str:
        """Say how many rounds a candidate would take at least, and that they cannot be had."""
        most = self._full.in_all
        if most == 0:
            because = self._full.budgets.because
            return f"{_ENOUGH} restarts executors, 0 may restart in a round{because}"
        if candidate.restarts > most:
            rounds = f"it would take {counted(-(-candidate.restarts // most), 'round')} or more"
            excess = f"restarts more executors than the {most} that may restart in a round: {rounds}"
        return f"{_ENOUGH} {excess}, and no {MOST_ROUNDS} that each leave it no worse lead there"
