"""The workload that `synthetic submit` is asked for: an instance's application, or one of paper 000's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cli.errors import UserError, refused
from cli.solve.solve_input import read_problem

if TYPE_CHECKING:
    from pathlib import Path

    from scheduler.model.application import Application
    from topologies.synthetic.configuration import SyntheticRun
    from topologies.synthetic.workload import Workload

APPLICATIONS = ("sequential", "diamond", "replicated")


@dataclass(frozen=True, slots=True)
class Asked:
    """What the options of `submit` say of a generated application; None: not given.

    Attributes:
        application: Its kind.
        operators: How many.
        rate: Tuples per second on each stream.
        tuple_bytes: Bytes per tuple.
        work_ms: Work per tuple and operator.
    """

    application: str | None
    operators: int | None
    rate: float | None
    tuple_bytes: float | None
    work_ms: float | None


def read_synthetic_run(text: str) -> SyntheticRun:
    """Read `--run`.

    Raises:
        UserError: It is no id of a run.
    """
    from topologies.synthetic.configuration import SyntheticRun  # noqa: PLC0415 - keeps other commands quick

    with refused(ValueError, by="--run"):
        return SyntheticRun(text)


def read_application(instance: Path | None, asked: Asked) -> Application:
    """Return the application of an instance file, or a generated one.

    Raises:
        UserError: Both or none are asked for, the file is no instance, or an option's value is impossible.
    """
    given = [f"--{name.replace('_', '-')}" for name in Asked.__slots__ if getattr(asked, name) is not None]
    if instance is not None:
        if given:
            raise UserError(f"{given[0]}: the instance {instance} says all about its application already")
        return read_problem(instance).application
    if asked.application is None:
        raise UserError("either an instance file or --application is needed")
    return _generated(asked)


def _generated(asked: Asked) -> Application:
    from scheduler.base.checks import ModelError  # noqa: PLC0415 - loads numpy, as all below
    from scheduler.instances.generators import applications  # noqa: PLC0415
    from scheduler.instances.generators.applications import PAPER_OPERATORS, OperatorTraits  # noqa: PLC0415

    if asked.application not in APPLICATIONS:
        raise UserError(f'--application: expected {", ".join(APPLICATIONS)}, got "{asked.application}"')
    kinds = (applications.sequential, applications.diamond, applications.replicated)
    paper = PAPER_OPERATORS
    try:
        return dict(zip(APPLICATIONS, kinds, strict=True))[asked.application](
            20 if asked.operators is None else asked.operators,
            traits=OperatorTraits(
                paper.execution_time_ms if asked.work_ms is None else asked.work_ms,
                paper.demand,
                paper.rate if asked.rate is None else asked.rate,
                paper.tuple_bytes if asked.tuple_bytes is None else asked.tuple_bytes,
            ),
        )
    except ModelError as error:
        options = {"execution_time_ms": "work-ms", "tuple_bytes": "tuple-bytes"}
        place = error.where.rsplit(".", maxsplit=1)[-1]
        raise UserError(f"--{options.get(place, place)}: {error.message}") from None


def to_workload(
    application: Application, *, work: str, tuples: int, warm_up_s: float, scale_rate: float
) -> Workload:
    """Return what the topology gets to know of an application.

    Args:
        application: Its demands and allowed nodes do not count: they are of the instance's own network.
        work: `wait` or `busy`.
        tuples: Source tuples to measure.
        warm_up_s: Time before, seconds.
        scale_rate: Factor of all rates.

    Raises:
        UserError: No topology can be made of it.
    """
    from topologies.synthetic.workload import (  # noqa: PLC0415 - keeps other commands quick
        Work,
        Workload,
        WorkloadError,
        WorkOperator,
        WorkStream,
        component_ids,
    )

    operators = application.operators
    if work not in set(Work):
        raise UserError(f'--work: expected {" or ".join(Work)}, got "{work}"')
    if not 0.0 < scale_rate < float("inf"):
        raise UserError(f"--scale-rate: expected a number above 0, got {scale_rate:g}")
    with refused(WorkloadError, by="this application cannot be run"):
        return Workload(
            operators=tuple(
                WorkOperator(operator.name, component, operator.execution_time_ms)
                for operator, component in zip(
                    operators, component_ids(each.name for each in operators), strict=True
                )
            ),
            streams=tuple(
                WorkStream(
                    source=application.index[each.source],
                    target=application.index[each.target],
                    rate=each.rate * scale_rate,
                    tuple_bytes=each.tuple_bytes,
                    critical=each.critical,
                )
                for each in application.streams
            ),
            work=Work(work),
            tuples=tuples,
            warm_up_s=warm_up_s,
        )
