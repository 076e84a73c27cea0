"""What the decision core says that a running synthetic topology should take, path by path."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from experiments.errors import ExperimentError
from topologies.synthetic.workload import Workload, WorkloadError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from scheduler.base.arrays import FloatArray
    from topologies.nimbus import TopologyPlacement

_SUMMARY = "summary.json"


@dataclass(frozen=True, slots=True)
class Measured:
    """What `synthetic collect` wrote.

    Attributes:
        run: Id of the run.
        workload: What was run.
        paths: Per path `streams`, `operators` and `delays`, the longest first.
        longest: The path whose delay is the response time.
        streams: Per stream of the workload what was measured of it.
    """

    run: str
    workload: Workload
    paths: list[dict[str, Any]]
    longest: dict[str, Any]
    streams: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Prediction:
    """Response time of a placement (eq. 5-8), without load.

    Attributes:
        response_time_ms: R.
        operators: Names of the operators along a path that takes so long.
        delay_ms: Delay of each stream of the workload.
    """

    response_time_ms: float
    operators: tuple[str, ...]
    delay_ms: tuple[float, ...]


def read_measured(folder: Path) -> Measured:
    """Read the files of `synthetic collect`.

    Raises:
        ExperimentError: They are missing or something else, or no path has enough tuples.
    """
    file = folder / _SUMMARY
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
        measured = Measured(
            document["run"],
            Workload.from_conf(document["workload"]),
            document["paths"],
            document["response_time"],
            document["streams"],
        )
    except OSError as error:
        raise ExperimentError(f"{file}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError) as error:
        reason = error if isinstance(error, WorkloadError) else "it is no summary of `synthetic collect`"
        raise ExperimentError(f"{file}: {reason}") from error
    if measured.longest is None:
        raise ExperimentError(f"{file}: no path has enough tuples to speak of a response time", status=1)
    return measured


def hosts_of(workload: Workload, placement: TopologyPlacement, name: str) -> tuple[str, ...]:
    """Return the host of each operator.

    Raises:
        ExperimentError: Nimbus knows no place of one, or the topology has other components.
    """
    host = {each.component: each.host for each in placement.executors if each.host}
    missing = [each.component for each in workload.operators if each.component not in host]
    if missing:
        raise ExperimentError(
            f"topology {name} has no place for {', '.join(missing)}: is it the run's, and is it running?",
            status=1,
        )
    return tuple(host[each.component] for each in workload.operators)


def predict(workload: Workload, hosts: Sequence[str], delays: Mapping[tuple[str, str], float]) -> Prediction:
    """Evaluate a placement as the scheduler does.

    Args:
        workload: What runs.
        hosts: (n_ops,) host of each operator.
        delays: One-way delay in ms by pair of distinct hosts.
    """
    import numpy as np  # noqa: PLC0415 - keeps other commands quick, as all below

    from scheduler.evaluation.critical_path import longest_path  # noqa: PLC0415
    from scheduler.model.problem import (  # noqa: PLC0415
        Application,
        Network,
        Node,
        Objective,
        Operator,
        Problem,
        Stream,
    )

    names = sorted(set(hosts))
    matrix: FloatArray = np.array([[0.0 if u == v else delays[u, v] for v in names] for u in names])
    network = Network([Node(name, {"slots": float(len(hosts))}) for name in names], matrix)
    operators = workload.operators
    application = Application(
        tuple(Operator(each.name, each.work_ms) for each in operators),
        tuple(
            Stream(
                source=operators[each.source].name,
                target=operators[each.target].name,
                rate=each.rate,
                tuple_bytes=each.tuple_bytes,
                critical=each.critical,
            )
            for each in workload.streams
        ),
    )
    placement = np.array([names.index(host) for host in hosts], dtype=np.int64)
    problem = Problem(application, network, Objective(weights={"response_time": 1.0}))
    response_ms, path = longest_path(problem, placement)
    delay_ms = tuple(
        float(matrix[placement[each.source], placement[each.target]]) for each in workload.streams
    )
    return Prediction(response_ms, tuple(operators[index].name for index in path), delay_ms)


def path_ms(workload: Workload, prediction: Prediction, streams: Sequence[int]) -> float:
    """Return the predicted delay of one path."""
    stations = [workload.streams[streams[0]].source, *(workload.streams[k].target for k in streams)]
    return math.fsum(
        [
            *(workload.operators[index].work_ms for index in stations),
            *(prediction.delay_ms[k] for k in streams),
        ]
    )


def document(measured: Measured, prediction: Prediction, hosts: Sequence[str]) -> dict[str, Any]:
    """Return predicted and measured times (ms) as JSON-like values; a deviation is measured - predicted."""
    workload = measured.workload
    p50_ms = measured.longest["delays"]["p50_ms"]
    return {
        "run": measured.run,
        "hosts": {each.name: host for each, host in zip(workload.operators, hosts, strict=True)},
        "predicted_ms": prediction.response_time_ms,
        "predicted_path": list(prediction.operators),
        "measured_p50_ms": p50_ms,
        "measured_p95_ms": measured.longest["delays"]["p95_ms"],
        "measured_path": measured.longest["operators"],
        "deviation_ms": p50_ms - prediction.response_time_ms,
        "deviation": p50_ms / prediction.response_time_ms - 1.0 if prediction.response_time_ms else None,
        "paths": [
            {
                "operators": path["operators"],
                "tuples": path["delays"]["tuples"],
                "predicted_ms": path_ms(workload, prediction, path["streams"]),
                "measured_p50_ms": path["delays"]["p50_ms"],
                "measured_p95_ms": path["delays"]["p95_ms"],
            }
            for path in measured.paths
        ],
        "streams": [
            {
                "stream": workload.stream_name(k),
                "predicted_ms": prediction.delay_ms[k],
                "measured_p50_ms": got["hop"] and got["hop"]["p50_ms"],
                "asked_rate": workload.streams[k].rate,
                "measured_rate": got["rate"],
            }
            for k, got in enumerate(measured.streams)
        ],
    }
