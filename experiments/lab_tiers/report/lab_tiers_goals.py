"""Which of the experiment's targets its turns have reached."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from experiments.lab_tiers.variants import BLIND, GREEDY, HEEDING, OURS
from experiments.reports.targets import Target

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from experiments.lab_tiers.report.tier_turns import TierTurn
    from formats.site_file import SiteFile

LARGEST_DEVIATION = 0.10
"""Of the bytes that pass an uplink from those planned."""
LEAST_BYTES_PER_S = 1000.0
"""Below that the background's own swings are larger than the deviation that is asked for."""
MOST_OF_GREEDY = 0.5
STEADY_MS_PER_S = 5.0
"""A response time that grows by less in a second belongs to no queue that grows."""
_LACKING = "not run"


@dataclass(frozen=True)
class UplinkUse:
    """What a turn sent over the uplink of a site.

    Attributes:
        turn: The turn.
        site: The site.
        most: What the uplink carries, bytes/s; infinite without a limit.
        total: All that passed it while rows came, bytes/s.
        idle: What passes it without the query.
        background: What passes it while the query is there and no row comes.
        planned: What the daemon expected of the query; None if there is no plan.
    """

    turn: TierTurn
    site: str
    most: float
    total: float
    idle: float
    background: float
    planned: float | None

    @property
    def measured(self) -> float:
        """What the query's rows sent over it, bytes/s."""
        return self.total - self.background

    @property
    def deviation(self) -> float | None:
        """By which part more was measured than planned; None where next to nothing was planned."""
        if self.planned is None or self.planned < LEAST_BYTES_PER_S:
            return None
        return self.measured / self.planned - 1.0


def uplink_uses(turns: Sequence[TierTurn], sites: SiteFile) -> tuple[UplinkUse, ...]:
    """Return the use of each uplink by each turn."""
    return tuple(
        UplinkUse(
            turn,
            site.name,
            site.uplink_bytes_per_s,
            turn.total_bytes_per_s[site.name],
            turn.idle_bytes_per_s[site.name],
            turn.background_bytes_per_s[site.name],
            None if turn.flows is None else turn.flows.bytes_per_s.get(site.name, 0.0),
        )
        for turn in turns
        for site in sites.site
    )


def targets(turns: Sequence[TierTurn], sites: SiteFile) -> tuple[Target, ...]:
    """Judge all targets, also those of variants that were not run."""
    uses = uplink_uses(turns, sites)
    return (
        _answers(turns),
        _bytes(uses),
        _within(uses),
        _cost(turns),
        _response(turns),
        _overload(turns),
        _stated(turns),
    )


def _of(turns: Sequence[TierTurn], name: str) -> list[TierTurn]:
    return [turn for turn in turns if turn.variant == name]


def _answers(turns: Sequence[TierTurn]) -> Target:
    wrong = [turn.label for turn in turns if turn.turn.wrong]
    unchecked = [turn.label for turn in turns if turn.turn.verdict == "not checked"]
    text = "answers right in all turns"
    if wrong:
        return Target(text, f"wrong: {', '.join(wrong)}", reached=False)
    if unchecked:
        return Target(text, f"not checked: {', '.join(unchecked)}", None)
    return Target(text, f"{len(turns)} of {len(turns)}", reached=True)


def _bytes(uses: Sequence[UplinkUse]) -> Target:
    """Compare the turns whose rows fit through all uplinks, by rates that were measured."""
    text = f"bytes over uplinks within {LARGEST_DEVIATION:.0%} of the plan's, by measured rates"
    judged = [
        (use, use.deviation)
        for use in uses
        if not use.turn.done.overload and use.turn.flows is not None and use.turn.flows.measured
    ]
    known = [(use, found) for use, found in judged if found is not None]
    if not known:
        return Target(text, _LACKING if not judged else "no uplink that a plan uses", None)
    worst, most = max(known, key=lambda each: abs(each[1]))
    within = sum(abs(found) <= LARGEST_DEVIATION for _, found in known)
    measured = (
        f"{within} of {len(known)} uplinks; worst {most:+.1%}, {worst.site} in {worst.turn.label}: "
        f"{worst.measured / 1000:.1f} kB/s, planned {(worst.planned or 0.0) / 1000:.1f}"
    )
    return Target(text, measured, within == len(known))


def _within(uses: Sequence[UplinkUse]) -> Target:
    """See that ours stays below, by plan and by counters, and that no packet had to wait too long."""
    text = "ours: no uplink over its bandwidth"
    ours = [use for use in uses if use.turn.variant in {OURS.name, HEEDING.name} and use.most < float("inf")]
    if not ours:
        return Target(text, _LACKING, None)
    over = [
        f"{use.site} in {use.turn.label}"
        for use in ours
        if max(use.total, (use.planned or 0.0) + use.background) > use.most
    ]
    dropped = {use.turn.label: use.turn.dropped for use in ours if use.turn.dropped}
    fullest = max(ours, key=lambda use: use.total / use.most)
    words = [
        f"fullest {fullest.site} in {fullest.turn.label}: {fullest.total / 1000:.1f} of "
        f"{fullest.most / 1000:g} kB/s",
        *(["over: " + ", ".join(over)] if over else []),
        *(f"{count} packets dropped in {label}" for label, count in dropped.items()),
    ]
    return Target(text, "; ".join(words), not over and not dropped)


def _cost(turns: Sequence[TierTurn]) -> Target:
    text = f"ours at most {MOST_OF_GREEDY:g} of cloud-greedy's cost (paper: 3 to 4 times)"
    ours, greedy = _of(turns, OURS.name), _of(turns, GREEDY.name)
    if not ours or not greedy:
        return Target(text, _LACKING, None)
    own, other = max(each.costs.total for each in ours), min(each.costs.total for each in greedy)
    measured = f"{own:.1f}, greedy {other:.1f}: {own / other:.2f}, greedy costs {other / own:.1f} times ours"
    return Target(text, measured, own <= MOST_OF_GREEDY * other)


def _response(turns: Sequence[TierTurn]) -> Target:
    text = "ours: median response time not above cloud-greedy's"
    ours, greedy = _of(turns, OURS.name), _of(turns, GREEDY.name)
    if not ours or not greedy:
        return Target(text, _LACKING, None)
    own, other = max(each.median_ms for each in ours), min(each.median_ms for each in greedy)
    return Target(text, f"{own:.1f} ms, greedy {other:.1f} ms", own <= other)


def _overload(turns: Sequence[TierTurn]) -> Target:
    text = "overload: the queue grows if bandwidths are ignored, and does not if they are respected"
    blind, heeding = _of(turns, BLIND.name), _of(turns, HEEDING.name)
    if not blind or not heeding:
        return Target(text, _LACKING, None)
    grows = min(each.growth_ms_per_s for each in blind)
    stays = max(each.growth_ms_per_s for each in heeding)
    measured = f"response time {grows:+.0f} ms per second if ignored, {stays:+.1f} if respected"
    return Target(text, measured, grows > STEADY_MS_PER_S >= stays)


def _stated(turns: Sequence[TierTurn]) -> Target:
    """See that costs in status lines are those of the placements that ran."""
    text = "costs in status lines are those that the placements have"
    planned = [turn for turn in turns if turn.turn.planned is not None]
    if not planned:
        return Target(text, _LACKING, None)
    other = list(_differing(planned))
    measured = "; ".join(other) if other else f"{len(planned)} of {len(planned)}"
    return Target(text, measured, not other)


def _differing(turns: Sequence[TierTurn]) -> Iterator[str]:
    for turn in turns:
        stated = turn.stated_costs
        if stated is None:
            yield f"{turn.label}: none stated"
            continue
        pairs = ((stated.placement_cost, turn.costs.placement), (stated.link_cost, turn.costs.link))
        # status lines have four digits
        if any(abs(one - other) > 1e-3 * max(other, 1.0) for one, other in pairs):
            yield (
                f"{turn.label}: {stated.placement_cost:g} and {stated.link_cost:g} stated, "
                f"{turn.costs.placement:g} and {turn.costs.link:g} found"
            )
