"""Rows for people, ready for benchmarks/RESULTS.md."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.placement.markdown import markdown, seconds

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_HEAD = (
    "scheduler",
    "placed",
    "rounds",
    "distance",
    "workers",
    "faults",
    "unchanged; daemon",
    "one in each: time; restarted",
    "some of one: time; restarted",
    "host lost: time; restarted",
)
_SCENARIOS = ("one_in_each", "some_of_one", "host_lost")


def table(cluster: Mapping[str, Any]) -> str:
    """Return the title and the table of one cluster's runs."""
    title = (
        f"{cluster['name']}: {cluster['executors']:,} executors of {cluster['topologies']:,} topologies, "
        f"{cluster['components']:,} components, {cluster['edges']:,} edges; {cluster['hosts']:,} hosts in "
        f"{cluster['racks']} racks, {cluster['slots']:,} slots"
    )
    if cluster["least_distance"] is not None:
        title += f"; lower bound of the distance {cluster['least_distance']:.3f}"
    return f"{title}\n\n{markdown(_HEAD, [_row(run) for run in cluster['runs']])}"


def _row(run: Mapping[str, Any]) -> Sequence[str]:
    unchanged = run["unchanged"]
    losses = {each["scenario"]: each for each in run.get("losses", ())}
    processor = unchanged["daemon_processor_s_per_round"]
    return [
        run["scheduler"],
        f"{run['placed']:,} of {run['executors']:,}",
        _times(run["seconds"]),
        "-" if run["distance"] is None else f"{run['distance']:.3f}",
        f"{run['workers']:,}",
        ", ".join(f"{rule} {count:,}" for rule, count in run["faults"].items()) or "none",
        f"{seconds(max(unchanged['seconds']))}; {seconds(processor) if processor else '-'}",
        *(_loss(losses.get(name)) for name in _SCENARIOS),
    ]


def _loss(loss: Mapping[str, Any] | None) -> str:
    if loss is None:
        return "-"
    return f"{_times(loss['seconds'])}; {loss['restarted']:,}"


def _times(values: Sequence[float]) -> str:
    return " + ".join(seconds(each) for each in values)
