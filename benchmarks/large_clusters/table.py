"""Rows for people, ready for benchmarks/RESULTS.md."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, Any

from benchmarks.placement.markdown import markdown, percent, seconds

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_HEAD = (
    "scheduler",
    "placed",
    "rounds",
    "distance",
    "workers",
    "faults",
    "nothing changed: first, median and longest later",
    "one in each: time; restarted",
    "some of one: time; restarted",
    "host lost: time; restarted",
)
_ROUNDS_SHOWN = 4
_SCENARIOS = ("one_in_each", "some_of_one", "host_lost")
_COSTS = (
    "scheduler",
    "heap of the JVM, MB",
    "the scheduler's, MB",
    "above default's, MB",
    "its threads",
    "daemon at most, MB",
    "daemon while placing, processor",
    "daemon while nothing changed, of a core",
)


def table(cluster: Mapping[str, Any]) -> str:
    """Return the title and the tables of one cluster's runs: what they do, and what they cost."""
    title = (
        f"{cluster['name']}: {cluster['executors']:,} executors of {cluster['topologies']:,} topologies, "
        f"{cluster['components']:,} components, {cluster['edges']:,} edges; {cluster['hosts']:,} hosts in "
        f"{cluster['racks']} racks, {cluster['slots']:,} slots"
    )
    if cluster["least_distance"] is not None:
        title += f"; lower bound of the distance {cluster['least_distance']:.3f}"
    done = [run for run in cluster["runs"] if "overdue_s" not in run]
    # the least of several runs: what one run leaves behind is not the scheduler's
    usual = min((run["heap_mb"] for run in done if run["scheduler"] == "default"), default=None)
    late = "".join(
        f"\n{run['scheduler']}: a round takes longer than {run['overdue_s']:g} s\n"
        for run in cluster["runs"]
        if "overdue_s" in run
    )
    rows = markdown(_HEAD, [_row(run) for run in done])
    costs = markdown(_COSTS, [_cost(run, usual) for run in done])
    return f"{title}\n\n{rows}{late}\nAfter garbage collection, with the state of the cluster:\n\n{costs}"


def _row(run: Mapping[str, Any]) -> Sequence[str]:
    losses = {each["scenario"]: each for each in run.get("losses", ())}
    first, *later = run["unchanged"]["seconds"]
    return [
        run["scheduler"],
        f"{run['placed']:,} of {run['executors']:,}",
        _times(run["seconds"]),
        "-" if run["distance"] is None else f"{run['distance']:.3f}",
        f"{run['workers']:,}",
        ", ".join(f"{rule} {count:,}" for rule, count in run["faults"].items()) or "none",
        ", ".join(seconds(each) for each in (first, *((median(later), max(later)) if later else ()))),
        *(_loss(losses.get(name), run["executors"]) for name in _SCENARIOS),
    ]


def _cost(run: Mapping[str, Any], usual_heap_mb: float | None) -> Sequence[str]:
    daemon = "daemon_peak_mb" in run
    unchanged = run["unchanged"]
    return [
        run["scheduler"],
        f"{run['heap_mb']:.0f}",
        f"{run['scheduler_heap_mb']:.1f}",
        "-" if usual_heap_mb is None else f"{run['heap_mb'] - usual_heap_mb:.1f}",
        f"{len(run['scheduler_threads'])}",
        f"{run['daemon_peak_mb']:.0f}" if daemon else "-",
        seconds(run["daemon_processor_s"]) if daemon else "-",
        percent(unchanged["daemon_processor_s"] / unchanged["lasted_s"]) if daemon else "-",
    ]


def _loss(loss: Mapping[str, Any] | None, executors: int) -> str:
    if loss is None:
        return "-"
    unplaced = executors - loss["placed"]
    return f"{_times(loss['seconds'])}; {loss['restarted']:,}" + (
        f"; {unplaced:,} unplaced" if unplaced else ""
    )


def _times(values: Sequence[float]) -> str:
    if len(values) > _ROUNDS_SHOWN:
        return f"{len(values)} rounds, {seconds(sum(values))}, the longest {seconds(max(values))}"
    return " + ".join(seconds(each) for each in values)
