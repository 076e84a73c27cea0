"""Synthetic topologies: their sources make tuples, and what is expected is the predicted response time."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from experiments.synthetic.delays import delays_of_sites
from experiments.synthetic.prediction import document, hosts_of, predict, read_measured
from experiments.topologies.description import Description
from replay.analysis.placement import PLACEMENT
from replay.output import write_json
from replay.pipeline import VERDICT
from topologies.nimbus import ExecutorPlace, TopologyPlacement
from topologies.synthetic.workload import component_ids

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from experiments.synthetic.prediction import Measured, Prediction
    from experiments.topologies.description import Say

_SILENCE_S = 120.0
"""Longest time without a new tuple after the warm-up."""


def synthetic_application(
    name: str,
    operators: Iterable[str],
    sites: Path,
    arguments: Sequence[str],
    *,
    warm_up_s: float = 15.0,
    ends: tuple[str, ...] = (),
) -> Description:
    """Describe a topology that `synthetic submit` makes.

    Args:
        name: Its name in Nimbus.
        operators: Names of the application's operators.
        sites: Site file of the lab: the delays of the prediction.
        arguments: An instance file or `--application` and what else says which application it is.
        warm_up_s: Seconds of which nothing is measured.
        ends: Components that Stormplace is asked to pin where Redis is.
    """

    def verify(_expected: Path, runs: Sequence[Path], say: Say) -> bool:
        for run in runs:
            measured, _, hosts, prediction = predicted(run, name, sites)
            comparison = document(measured, prediction, hosts)
            write_json(run / VERDICT, comparison)
            say(f"{run.name}: {comparison['deviation_ms']:+.1f} ms from the predicted response time")
        return True  # a run that lacks a tuple has failed when it was collected

    return Description(
        name=name,
        group="synthetic",
        title=f"the synthetic application {name}",
        components=component_ids(operators),
        ends=ends,
        verify=verify,
        submit=(*arguments, f"--warm-up={warm_up_s:g}"),
        collect=(f"--timeout={warm_up_s + _SILENCE_S:g}",),
    )


def predicted(
    run: Path, name: str, sites: Path
) -> tuple[Measured, TopologyPlacement, tuple[str, ...], Prediction]:
    """Return what a run measured, where it ran, the host of each operator, and what is expected of these.

    Args:
        run: The run's folder, with the files of `synthetic collect` and its placement.
        name: The topology's name in Nimbus.
        sites: Site file of the lab.

    Raises:
        ExperimentError: A file is missing or something else.
    """
    measured = read_measured(run)
    content = json.loads((run / PLACEMENT).read_text(encoding="utf-8"))
    executors = tuple(ExecutorPlace(**executor) for executor in content["executors"])
    placement = TopologyPlacement(content["id"], content["status"], content["scheduler_status"], executors)
    hosts = hosts_of(measured.workload, placement, name)
    return measured, placement, hosts, predict(measured.workload, hosts, delays_of_sites(sites, set(hosts)))
