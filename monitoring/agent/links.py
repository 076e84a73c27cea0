"""Judges each link by its probes: delay, loss, and the probability that it carries anything at all.

A link counts as cut while several probes in a row stay without an answer although the peer is published as
alive and others answer. A silence that ends with the peer's reading gone from ZooKeeper was the peer's own
(it died, or was stopped), and one in which no peer answers is this host's: neither counts against a link.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from monitoring.agent.availability import History, add_time, estimate
from monitoring.agent.link_memory import LinkMemory
from monitoring.reading import Link

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from monitoring.agent.latency_filter import LatencyFilter


_LOSS_HORIZON_S = 600.0
"""Time after which a probe weighs 1/e of a new one in the share of lost ones."""

_CUT_AFTER = 3
"""Unanswered probes in a row that are a cut of the link and not just loss."""

TRUST_S = 60.0
"""Longest time for which an answer, or the last probe of a silence, speaks."""

MAX_AGE_S = 120.0
"""A link without an answer for so long is not published."""

MAX_PUBLISHED = 32
"""Most links in one reading."""

KEEP_S = 3_600.0
"""Time after the last probe for which a link's past is remembered."""


@dataclass(slots=True)
class _Past:
    """Mutable record of one link; all times in s of the agent's monotonic clock.

    `here` says whether a probe has ended since the agent's start.
    """

    history: History = field(default_factory=History)
    answered: float = 0.0
    unanswered: float = 0.0
    probed_s: float = 0.0
    answered_s: float = -math.inf
    silent_since_s: float | None = None
    lost_s: float = -math.inf
    losses: int = 0
    here: bool = False


class Links:
    """The links of this host.

    Args:
        delays: Filtered delays; the same that feed the coordinate.
    """

    def __init__(self, delays: LatencyFilter) -> None:
        self._delays = delays
        self._pasts: dict[str, _Past] = {}

    def note_answer(self, peer: str, now_s: float) -> None:
        """Note an answer; whether the time since the last one was a cut is decided now."""
        past = self._note_probe(peer, now_s)
        past.history = self._with_open_silence(past, now_s)
        since_s = past.answered_s
        if not self._is_cut(past) and math.isfinite(since_s):
            trusted_s = min(now_s - since_s, TRUST_S)
            faded = past.history.fade(now_s - since_s - trusted_s)
            past.history = add_time(faded, trusted_s, bad=False)
        past.answered += 1
        past.answered_s = now_s
        past.losses, past.silent_since_s = 0, None

    def lost(self, peer: str, sent_s: float, now_s: float) -> int:
        """Note a probe without an answer.

        Args:
            peer: Whom it was for.
            sent_s: When it left, s.
            now_s: When it was given up, s.

        Returns:
            Unanswered probes in a row.
        """
        past = self._note_probe(peer, now_s)
        past.unanswered += 1
        past.losses += 1
        past.lost_s = sent_s
        if past.silent_since_s is None:
            past.silent_since_s = sent_s
        return past.losses

    def excuse(self, peer: str) -> None:
        """Forget the present silence of a peer: it is the peer's own, or this host's, not the link's."""
        past = self._pasts.get(peer)
        if past is not None and past.losses:
            past.unanswered = max(0.0, past.unanswered - past.losses)
            past.losses, past.silent_since_s = 0, None
            past.answered_s = -math.inf  # nothing is known of the time in between

    def excuse_all(self) -> None:
        """Forget every present silence: this host itself was cut off."""
        for peer in self._pasts:
            self.excuse(peer)

    def is_silent(self, peer: str) -> bool:
        """Say whether the last probe to a peer stayed without an answer."""
        past = self._pasts.get(peer)
        return past is not None and past.losses > 0

    def is_probed(self, peer: str) -> bool:
        """Say whether a probe to a peer has ended since the start."""
        past = self._pasts.get(peer)
        return past is not None and past.here

    def fresh(self, now_s: float) -> list[str]:
        """Return the peers whose last answer is fresh enough to be published."""
        return [p for p, past in self._pasts.items() if now_s - past.answered_s <= MAX_AGE_S]

    def choose(self, now_s: float, partners: Collection[str]) -> dict[str, Link]:
        """Choose the links of a reading: partners first, then the freshest; sorted by name.

        Args:
            now_s: Time of the reading, s.
            partners: Peers that exchange tuples with this host.
        """
        self._drop_old(now_s)
        fresh = self.fresh(now_s)
        fresh.sort(key=lambda peer: (peer not in partners, now_s - self._pasts[peer].answered_s, peer))
        links = {peer: self._link(peer, now_s) for peer in sorted(fresh[:MAX_PUBLISHED])}
        return {peer: link for peer, link in links.items() if link is not None}

    def memory(self, now_s: float) -> dict[str, LinkMemory]:
        """Return what should outlive a restart, by peer."""
        self._drop_old(now_s)
        return {peer: self._memory_of(peer, past, now_s) for peer, past in self._pasts.items()}

    def restore(self, before: Mapping[str, LinkMemory], now_s: float) -> None:
        """Go on from what `memory` gave before a restart; what is too old by now is dropped."""
        for peer, link in before.items():
            age_s = link.answered_age_s
            self._pasts[peer] = _Past(
                history=History(link.good_s, link.bad_s),
                answered=link.answered,
                unanswered=link.unanswered,
                probed_s=now_s - link.probed_age_s,
                answered_s=-math.inf if age_s is None else now_s - age_s,
            )
            samples = ((now_s - sample_age_s, delay_ms) for sample_age_s, delay_ms in link.samples)
            self._delays.restore(peer, now_s, samples)
        self._drop_old(now_s)

    def unprobed(self) -> tuple[str, ...]:
        """Return the peers of which nothing is known but from before the restart."""
        return tuple(peer for peer, past in self._pasts.items() if not past.here)

    def _memory_of(self, peer: str, past: _Past, now_s: float) -> LinkMemory:
        cut = self._is_cut(past)  # whose silence it is has not been judged: it counts for nothing
        known = math.isfinite(past.answered_s) and not cut
        ages_s = [(now_s - at_s, delay_ms) for at_s, delay_ms in self._delays.samples(peer)]
        return LinkMemory(
            good_s=past.history.good_s,
            bad_s=past.history.bad_s,
            answered=past.answered,
            unanswered=max(0.0, past.unanswered - past.losses) if cut else past.unanswered,
            probed_age_s=now_s - past.probed_s,
            answered_age_s=now_s - past.answered_s if known else None,
            samples=tuple(sample for sample in ages_s if sample[0] <= MAX_AGE_S),
        )

    def _drop_old(self, now_s: float) -> None:
        for peer in [p for p, past in self._pasts.items() if now_s - past.probed_s > KEEP_S]:
            del self._pasts[peer]

    def _link(self, peer: str, now_s: float) -> Link | None:
        delay = self._delays.look(peer, now_s)
        if delay is None:
            return None
        past = self._pasts[peer]
        history = self._with_open_silence(past, now_s)
        probes = past.answered + past.unanswered
        return Link(
            delay_ms=delay.delay_ms,
            age_s=now_s - past.answered_s,
            delay_age_s=now_s - delay.supported_s,
            samples=delay.samples,
            loss=past.unanswered / probes if probes > 0 else 0.0,
            availability=estimate(history),
        )

    def _note_probe(self, peer: str, now_s: float) -> _Past:
        past = self._pasts.setdefault(peer, _Past(probed_s=now_s))
        passed_s = max(0.0, now_s - past.probed_s)
        kept = math.exp(-passed_s / _LOSS_HORIZON_S)
        past.answered *= kept
        past.unanswered *= kept
        past.probed_s = now_s
        past.here = True
        return past

    def _is_cut(self, past: _Past) -> bool:
        return past.losses >= _CUT_AFTER

    def _with_open_silence(self, past: _Past, now_s: float) -> History:
        """Count the present silence as bad if it is long enough to be a cut.

        It speaks for no longer after its last probe than an answer would: who is not probed may be back.
        """
        if past.silent_since_s is None or not self._is_cut(past):
            return past.history
        passed_s = max(0.0, now_s - past.silent_since_s)
        bad_s = min(passed_s, past.lost_s + TRUST_S - past.silent_since_s)
        return add_time(past.history, bad_s, bad=True).fade(passed_s - bad_s)
