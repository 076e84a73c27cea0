"""The application of a turn, as it is submitted: where its ends are, and what each scheduler is to know."""

from __future__ import annotations

from typing import TYPE_CHECKING

from experiments.topologies.description import Description, Turn
from replay.output import write_json
from replay.pipeline import VERDICT
from topologies.synthetic.workload import component_ids

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from experiments.replacement.cluster.cluster_settings import ReplacementSettings
    from experiments.replacement.cluster.variants import VariantTurn
    from experiments.topologies.description import Say

NAME = "chain"
STRATEGY = "odr"
_SILENCE_S = 240.0
"""Longest time without a new tuple: a restart far from ZooKeeper, and what waits meanwhile."""

_ACKERS = 1
_CONF: dict[str, object] = {
    # as the paper's containers: what moves takes no other operator down, above all not the source
    "topology.ras.one.executor.per.worker": True,
    # the source sends again what a killed worker swallows
    "synthetic.replay": True,
    "topology.acker.executors": _ACKERS,
    # longer than a restart takes: what only waits must not be sent twice
    "topology.message.timeout.secs": 60,
    # the machine must have something left for workers that start: a hop is half a millisecond slower
    "topology.bolt.wait.park.microsec": 1000,
}
_EQUAL = {"response_time": 0.25, "availability": 0.25, "cost": 0.25, "migration": 0.25}
_CHEAP = {"response_time": 0.25, "cost": 0.75}
"""With source and sink in the cloud the fog is slower, and cheap: that is what the chain returns for."""


def describe(settings: ReplacementSettings, turn: VariantTurn) -> Turn:
    """Describe a turn."""
    variant = turn.variant
    operators = settings.problem.application.operators
    components = component_ids(each.name for each in operators)
    speedups = {node.name: node.speedup for node in settings.problem.network.nodes}
    cpu = {
        component: max(100.0 * operator.demand.get("vcpu", 0.0), 1.0)
        for component, operator in zip(components, operators, strict=True)
    }
    conf = _CONF | {"synthetic.speedups": speedups, "synthetic.cpu.percent": cpu}
    pins: dict[str, str] = {}
    if variant.ours:
        image_mb = max(operator.image_mb for operator in operators)
        conf |= {
            "topology.stormplace.weights": _CHEAP if variant.drains else _EQUAL,
            "topology.stormplace.cost.model": "per-host",
            "topology.stormplace.image.mb": image_mb,
            "topology.stormplace.frozen": variant.frozen,
        }
        pins = {
            component: f"host:{operator.allowed[0]}"
            for component, operator in zip(components, operators, strict=True)
            if operator.allowed is not None and len(operator.allowed) == 1
        }
        if variant.drains:
            # what is pinned to a site that is drained would stay there
            pins = dict.fromkeys(pins, f"host:{settings.site_file.services}-1")
    description = Description(
        name=NAME,
        group="synthetic",
        title="the chain of paper 001",
        components=components,
        ends=tuple(pins),
        verify=verify,
        submit=(
            str(settings.data.resolve()),
            f"--tuples={settings.tuples(variant)}",
            f"--warm-up={settings.warm_up_s:g}",
        ),
        collect=(f"--timeout={settings.warm_up_s + _SILENCE_S:g}",),
    )
    strategy = STRATEGY if variant.ours else None
    workers = len(components) + _ACKERS
    return Turn(turn.label, description, None, variant.scheduler, workers, strategy, pins, conf)


def verify(_expected: Path, runs: Sequence[Path], say: Say) -> bool:
    """Count which of the tuples that sources emitted never came to the sink, and which came again."""
    from experiments.replacement.cluster.report.tuples import read_tuples  # noqa: PLC0415 - loads numpy

    complete = True
    for run in runs:
        read = read_tuples(run)
        write_json(run / VERDICT, {"lost": read.lost, "repeated": read.repeated, "replayed": read.replayed})
        say(f"{run.name}: {read.lost} tuples lost, {read.repeated} came again")
        complete &= read.lost == 0
    return complete
