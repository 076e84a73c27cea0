"""Figures of strategies over the problems, and whether the goals are met."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

from experiments.reports.targets import Target
from experiments.tiers.cases import LIMIT_S, STRATEGY_NAMES
from experiments.tiers.runs import CLOUD, COLOCATE, COMBINED, EXACT, HEURISTICS, OURS, PIN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from experiments.tiers.cases import Case
    from experiments.tiers.runs import TierRun

LARGEST_NETWORK, LARGEST_SET, SCARCE_NETWORK = 3, 11, 1
LARGER_SETS = 6
"""Sets from which the paper's "larger graph sizes" are counted here."""
COMB_2 = COMBINED[1]


@dataclass(frozen=True)
class Figures:
    """A strategy over several problems.

    Attributes:
        strategy: Its name.
        runs: Problems.
        solved: Those for which it found a placement.
        proved: Those that it proved.
        mean_gap: Mean of gaps; None where there are none.
        worst_gap: The largest one.
        median_s: Median time.
        longest_s: The longest.
        saving: How much less time than `inop-exact` it took for all of them, as a part; may be below 0.
    """

    strategy: str
    runs: int
    solved: int
    proved: int
    mean_gap: float | None
    worst_gap: float | None
    median_s: float
    longest_s: float
    saving: float


def figures(runs: Iterable[TierRun]) -> tuple[Figures, ...]:
    """Return the figures of each strategy, over problems that all strategies were asked for."""
    by_strategy: dict[str, list[TierRun]] = {name: [] for name in STRATEGY_NAMES}
    for run in runs:
        by_strategy[run.strategy].append(run)
    whole = sum(run.seconds for run in by_strategy[EXACT])
    return tuple(_figures(name, own, whole) for name, own in by_strategy.items() if own)


def _figures(name: str, runs: Sequence[TierRun], exact_s: float) -> Figures:
    gaps = [run.gap for run in runs if run.gap is not None]
    seconds = [run.seconds for run in runs]
    return Figures(
        strategy=name,
        runs=len(runs),
        solved=sum(run.cost is not None for run in runs),
        proved=sum(run.proved for run in runs),
        mean_gap=statistics.fmean(gaps) if gaps else None,
        worst_gap=max(gaps, default=None),
        median_s=statistics.median(seconds),
        longest_s=max(seconds),
        saving=1.0 - sum(seconds) / exact_s,
    )


def targets(runs: Sequence[TierRun]) -> tuple[Target, ...]:
    """Compare the main reading's runs with what they have to reach."""
    main = [run for run in runs if run.case.main]
    found = {each.strategy: each for each in figures(main)}
    return (
        *_proofs(main),
        *(_ours(found[name]) for name in OURS),
        *(_in_time(found[name], found[COMB_2], main) for name in OURS),
        *(_never_stuck(name, main) for name in OURS),
        _heuristics(found),
        _worst(found),
        _order(found),
        _cloud(main),
    )


def _proofs(main: Sequence[TierRun]) -> list[Target]:
    exact = [run for run in main if run.strategy == EXACT]
    proved = sum(run.proved for run in exact)
    share = Target(
        f"optima proved within {LIMIT_S:.0f} s: at least 95 %",
        f"{proved} of {len(exact)} ({proved / len(exact):.1%})",
        proved >= 0.95 * len(exact),
    )
    largest = [run for run in exact if _is_largest(run.case)]
    longest = max(run.seconds for run in largest)
    text = "100 nodes, 54 operators: proved within 30 s"
    of = sum(run.proved for run in largest)
    measured = f"{of} of {len(largest)}, the longest {longest:.1f} s"
    return [share, Target(text, measured, of == len(largest) and longest <= 30.0)]


def _is_largest(case: Case) -> bool:
    return (case.underlay, case.graph_set) == (LARGEST_NETWORK, LARGEST_SET)


def _ours(found: Figures) -> Target:
    mean, worst = found.mean_gap or 0.0, found.worst_gap or 0.0
    text = f"`{found.strategy}`: gap at most 0.5 % on average, 3 % at worst"
    return Target(text, f"{mean:.2%}, {worst:.2%}", mean <= 0.005 and worst <= 0.03)


def _in_time(found: Figures, other: Figures, main: Sequence[TierRun]) -> Target:
    ours, theirs = (
        sum(run.seconds for run in main if run.strategy == each.strategy) for each in (found, other)
    )
    text = f"`{found.strategy}`: at most the time of `{COMB_2}`, all problems together"
    return Target(text, f"{ours:.0f} s, {theirs:.0f} s", ours <= theirs)


def _never_stuck(name: str, main: Sequence[TierRun]) -> Target:
    scarce = [run for run in main if run.case.underlay == SCARCE_NETWORK and run.strategy != CLOUD]
    solvable = {run.case for run in scarce if run.cost is not None}
    stuck = sum(run.cost is None for run in scarce if run.strategy == name and run.case in solvable)
    text = f"`{name}`: never stuck on the smallest network where another strategy finds a placement"
    return Target(text, f"stuck in {stuck} of {len(solvable)}", stuck == 0)


def _heuristics(found: dict[str, Figures]) -> Target:
    means = {name: found[name].mean_gap or 0.0 for name in HEURISTICS}
    above = [f"`{name}` {mean:.1%}" for name, mean in means.items() if mean >= 0.1]
    text = "the paper's heuristics: gap below 10 % on average"
    return Target(text, f"above: {', '.join(above)}" if above else "all", not above)


def _worst(found: dict[str, Figures]) -> Target:
    name = max(HEURISTICS, key=lambda each: found[each].worst_gap or 0.0)
    worst = found[name].worst_gap or 0.0
    text = "the paper's heuristics: the largest gap about 20 %"
    return Target(text, f"{worst:.1%}, `{name}`", 0.15 <= worst <= 0.25)


def _order(found: dict[str, Figures]) -> Target:
    order = sorted(HEURISTICS, key=lambda name: found[name].mean_gap or 0.0)
    with_pins = {PIN, *COMBINED[:2]}
    text = "least gap with co-location alone, the largest with pinning"
    measured = " < ".join(f"`{name}`" for name in order)
    return Target(text, measured, order[0] == COLOCATE and order[-1] in with_pins)


def _cloud(main: Sequence[TierRun]) -> Target:
    ratios = [
        1.0 + run.gap
        for run in main
        if run.strategy == CLOUD
        and run.gap is not None
        and run.case.underlay == LARGEST_NETWORK
        and run.case.graph_set >= LARGER_SETS
    ]
    mean = statistics.fmean(ratios) if ratios else 0.0
    text = "100 nodes, larger sets: cloud alone costs 3 to 4 times the optimum"
    return Target(text, f"{mean:.1f} times", 3.0 <= mean <= 4.5)


def over_sets(
    runs: Sequence[TierRun], of: Callable[[Figures], float | None]
) -> dict[str, list[tuple[int, float]]]:
    """Return for each strategy (graphs, figure) by the number of graphs, where there is one."""
    series: dict[str, list[tuple[int, float]]] = {name: [] for name in STRATEGY_NAMES}
    for graphs in sorted({run.case.graphs for run in runs}):
        for each in figures(run for run in runs if run.case.graphs == graphs):
            if (value := of(each)) is not None:
                series[each.strategy].append((graphs, value))
    return series


def gap_over_time(runs: Sequence[TierRun], at_s: Sequence[float]) -> list[float | None]:
    """Return the mean gap of runs of one strategy at some times; None before each has a placement."""
    found: list[float | None] = []
    for moment in at_s:
        gaps = []
        for run in runs:
            if run.cost is None or run.gap is None:
                continue
            best = run.cost / (1.0 + run.gap)
            known = [cost for seconds, cost in run.better if seconds <= moment]
            known += [run.cost] if run.seconds <= moment else []
            gaps.append(min(known) / best - 1.0 if known else None)
        whole = [gap for gap in gaps if gap is not None]
        found.append(statistics.fmean(whole) if gaps and len(whole) == len(gaps) else None)
    return found
