"""The three panels of a timeline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FuncFormatter, MaxNLocator

from experiments.adaptation.report.recovery import OUTAGE_S
from experiments.adaptation.report.true_network import at, seen_delays
from experiments.reports.axes import lighten, logarithmic
from experiments.reports.network_map import COLORS, FAINT
from experiments.reports.svg import INK

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes

    from experiments.adaptation.report.finished_scenario import ScenarioData
    from experiments.adaptation.report.kept import PlannedRound
    from experiments.adaptation.report.phases import Phase
    from experiments.adaptation.report.true_network import Pair
    from formats.site_file import SiteFile
    from scheduler.base.arrays import FloatArray

EVENT, MOVE = "#c0392b", "#6c3483"
_DOT, _PREDICTED, _AWAY = "#7fa8c9", "#b35900", "#fbe3e0"
_MINUTES_FROM_S = 1200.0
_MOST_PAIRS = 10
_WIDEST = 12.0
_TRUE: dict[str, Any] = {"color": INK, "linewidth": 1.0, "linestyle": (0, (4, 2))}
_DERIVED: dict[str, Any] = {
    "marker": "o",
    "color": "white",
    "markeredgecolor": INK,
    "markeredgewidth": 1.4,
    "markersize": 6.5,
}
_BESIDE: dict[str, Any] = {
    "loc": "upper left",
    "bbox_to_anchor": (1.005, 1.02),
    "frameon": False,
    "fontsize": 9,
}
_HOME = "#8d99a6"


@dataclass(frozen=True)
class Clock:
    """The axis of time: seconds since the start, minutes where it is long.

    Attributes:
        start_s: Unix time of 0.
        end_s: Unix time of its end.
    """

    start_s: float
    end_s: float

    @property
    def unit(self) -> str:
        """Unit of the axis."""
        return "minutes" if self._unit_s == 60.0 else "seconds"

    @property
    def limits(self) -> tuple[float, float]:
        """Ends of the axis."""
        return 0.0, self.of(self.end_s)

    @property
    def _unit_s(self) -> float:
        return 60.0 if self.end_s - self.start_s > _MINUTES_FROM_S else 1.0

    def of(self, time_s: float) -> float:
        """Return a moment's place on the axis."""
        return (time_s - self.start_s) / self._unit_s

    def steps(self, rounds: Sequence[PlannedRound]) -> FloatArray:
        """Return the rounds' places and the end: a round holds until the next one."""
        return np.array([self.of(each.time_s) for each in rounds] + [self.of(self.end_s)])


def draw_response_times(axes: Axes, scenario: ScenarioData, phases: Sequence[Phase], clock: Clock) -> None:
    """Draw every row, the rolling median, R as the planner expects it, and the time until recovery."""
    rows = scenario.rows
    place = np.array([clock.of(time_s) for time_s in rows.available_s])
    answered = np.isfinite(rows.response_ms)
    axes.plot(
        place[answered], rows.response_ms[answered], ".", color=_DOT, markersize=3, label="row", zorder=3
    )
    if not answered.all():
        axes.plot(
            place[~answered],
            np.full(np.count_nonzero(~answered), 0.985),
            "|",
            color=EVENT,
            markersize=9,
            transform=axes.get_xaxis_transform(),
            label="row without result",
            zorder=4,
        )
    medians = np.where(np.isfinite(scenario.medians_ms), scenario.medians_ms, np.nan)
    # no line across a stretch without rows
    after = np.flatnonzero(np.diff(rows.available_s) > OUTAGE_S) + 1
    axes.plot(
        np.insert(place, after, np.nan),
        np.insert(medians, after, np.nan),
        color=INK,
        linewidth=1.6,
        label="median of 5 s",
        zorder=5,
    )
    rounds = _current(scenario)
    expected = [np.nan if each.response_time_ms is None else each.response_time_ms for each in rounds]
    axes.step(
        clock.steps(rounds),
        [*expected, expected[-1]],
        where="post",
        color=_PREDICTED,
        linewidth=4.0,
        alpha=0.7,
        label="R that the planner\nexpects, source to sink",
        zorder=3.5,
    )
    low_ms = max(np.nanmin([rows.response_ms[answered].min(), *expected]), 1.0)
    high_ms = max(np.nanmax([rows.response_ms[answered].max(), *expected]), 2.0)
    # room below the rows for the words about each phase
    axes.set_yscale("log")
    axes.set_ylim(low_ms * (0.45 if phases else 0.85), high_ms * 1.4)
    logarithmic(axes.yaxis, (1, 2, 5) if high_ms > 10 * low_ms else range(1, 10))
    axes.yaxis.set_major_formatter(
        FuncFormatter(lambda ms, _: f"{ms:g} ms" if ms < 1000 else f"{ms / 1000:g} s")
    )
    axes.set_ylabel("response time end to end\n(logarithmic)")
    lighten(axes)
    for phase in phases:
        _draw_recovery(axes, phase, clock)
    axes.legend(**_BESIDE)


def _draw_recovery(axes: Axes, phase: Phase, clock: Clock) -> None:
    start_s, back_s = phase.event.time_s, phase.recovered_s
    end_s = phase.end_s if back_s is None else start_s + back_s
    axes.axvspan(clock.of(start_s), clock.of(end_s), color=_AWAY, zorder=0)
    axes.annotate(
        ("not back" if phase.known else "not known") if back_s is None else f"back after {back_s:.1f} s",
        (clock.of(start_s), 0.0),
        xycoords=axes.get_xaxis_transform(),
        xytext=(4, 5),
        textcoords="offset points",
        fontsize=9.5,
        weight="bold",
        color=EVENT,
        bbox={"facecolor": _AWAY, "edgecolor": "none", "pad": 0.8},
        zorder=6,
    )


def draw_delays(axes: Axes, scenario: ScenarioData, sites: SiteFile, clock: Clock) -> None:
    """Draw the delays of the pairs of sites in use as the planner saw them, and as they were."""
    rounds = _current(scenario)
    pairs = _pairs_in_use(rounds, sites)
    color = _site_colors(scenario, sites)
    spare = [each for each in COLORS if each not in color.values()] or [INK]
    handles = []
    between = 0
    # the first lines are the widest, and all have a white edge: one that lies on another does not hide it
    shown = len(pairs[:_MOST_PAIRS])
    widths = np.linspace(min(1.8 + 2.6 * (shown - 1), _WIDEST), 1.8, shown)
    derived = False
    for pair, width in zip(pairs[:_MOST_PAIRS], widths, strict=True):
        ends = sorted(pair, key=lambda site: (site != scenario.done.home, site))
        if ends[0] == scenario.done.home:
            own = color[ends[1]]
        else:
            own = spare[between % len(spare)]
            between += 1
        derived |= _draw_pair(axes, scenario, pair, {"color": own, "linewidth": float(width)}, clock)
        handles.append(Line2D([], [], color=own, linewidth=1.8, label=" - ".join(ends)))
    handles += [
        Line2D([], [], color=INK, linewidth=1.8, label="as the planner saw it"),
        Line2D([], [], **_TRUE, label="true"),
    ]
    if derived:
        handles.append(Line2D([], [], linestyle="", **_DERIVED, label="not measured directly"))
    if len(pairs) > _MOST_PAIRS:
        handles.append(Line2D([], [], linestyle="", label=f"({len(pairs) - _MOST_PAIRS} more pairs)"))
    axes.set_ylim(bottom=0)
    axes.set_ylabel("delay between sites,\nms, one way")
    lighten(axes, "y")
    axes.legend(handles=handles, **_BESIDE)


def _draw_pair(axes: Axes, scenario: ScenarioData, pair: Pair, line: Mapping[str, Any], clock: Clock) -> bool:
    """Draw a pair's delays; return whether one of them was not measured directly."""
    rounds = _current(scenario)
    seen = [seen_delays(each).get(pair, (np.nan, "measured")) for each in rounds]
    place = clock.steps(rounds)
    values = [ms for ms, _ in seen]
    edge = [withStroke(linewidth=line["linewidth"] + 1.2, foreground="white")]
    axes.step(place, [*values, values[-1]], where="post", zorder=3, path_effects=edge, **line)
    derived = [number for number, (_, source) in enumerate(seen) if source != "measured"]
    axes.plot(
        place[derived],
        np.array(values)[derived],
        linestyle="",
        zorder=4,
        **_DERIVED | {"markeredgecolor": line["color"]},
    )
    times = [
        scenario.start_s,
        *(e.start_s for e in scenario.epochs if scenario.start_s < e.start_s < scenario.end_s),
    ]
    true = [at(scenario.epochs, time_s).between_ms(pair) for time_s in times]
    true_ms = [np.nan if ms is None else ms for ms in [*true, true[-1]]]
    axes.step(
        [clock.of(time_s) for time_s in (*times, scenario.end_s)],
        true_ms,
        where="post",
        zorder=3.5,
        **_TRUE,
    )
    return bool(np.isfinite(np.array(values)[derived]).any())


def draw_hosts(axes: Axes, scenario: ScenarioData, sites: SiteFile, clock: Clock) -> None:
    """Draw how many executors each site hosts, round by round."""
    rounds = _current(scenario)
    color = _site_colors(scenario, sites)
    placed = [[sites.hosts.get(host) if host else None for host in each.hosts.values()] for each in rounds]
    place = clock.steps(rounds)
    base = np.zeros(len(place))
    for site in (*color, None):
        counts = np.array([each.count(site) for each in placed], dtype=np.float64)
        counts = np.append(counts, counts[-1])
        if not counts.any():
            continue
        axes.fill_between(
            place,
            base,
            base + counts,
            step="post",
            color="white" if site is None else color[site],
            hatch="///" if site is None else None,
            edgecolor=FAINT if site is None else "white",
            linewidth=0.0,
            alpha=0.85,
            label=site or "no host",
            zorder=2,
        )
        base += counts
    axes.set_ylim(0, base.max() * 1.05)
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_ylabel("executors by site")
    handles, labels = axes.get_legend_handles_labels()
    axes.legend(handles[::-1], labels[::-1], **_BESIDE)


def _current(scenario: ScenarioData) -> list[PlannedRound]:
    """Return the rounds while paced rows came, and the one before, which held when they began."""
    before = [each for each in scenario.rounds if each.time_s < scenario.start_s]
    inside = [each for each in scenario.rounds if scenario.start_s <= each.time_s <= scenario.end_s]
    return before[-1:] + inside


def _pairs_in_use(rounds: Sequence[PlannedRound], sites: SiteFile) -> list[Pair]:
    """Return the pairs of sites that hosted executors at the same time, those in use longest first."""
    known = {pair for each in rounds for pair in seen_delays(each)}
    used = [{sites.hosts.get(host) for host in each.hosts.values() if host} for each in rounds]
    count = {pair: sum(pair <= each for each in used) for pair in known}
    return sorted((pair for pair in known if count[pair]), key=lambda pair: (-count[pair], sorted(pair)))


def _site_colors(scenario: ScenarioData, sites: SiteFile) -> Mapping[str, str]:
    """Give home and each site that hosted an executor a colour, in the order of their first use."""
    used = [sites.hosts.get(host or "") for each in scenario.rounds for host in each.hosts.values()]
    others = [site for site in dict.fromkeys(used) if site is not None and site != scenario.done.home]
    return {scenario.done.home: _HOME} | {site: COLORS[n % len(COLORS)] for n, site in enumerate(others)}
