"""A path seen as one component, whose numbers of executors are the rungs of the path's ladder (ours)."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from scheduler.elasticity.operator_manager.sample import OperatorSample

if TYPE_CHECKING:
    from scheduler.elasticity.operator_manager.model_parameters import ModelBasedParameters
    from scheduler.elasticity.operator_manager.path import Path

_ROUNDING = 1e-9
"""Of rates that are kept."""


@lru_cache(maxsize=64)
def of_path(parameters: ModelBasedParameters, path: Path) -> ModelBasedParameters:
    """Return the parameters of the path's model, the same for the managers of all its components.

    Args:
        parameters: Of one of them; the conditions between its weights are those of the path's model.
        path: Its path.
    """
    return replace(
        parameters,
        executors_min=1,
        executors_max=len(path.ladder.executors),
        tasks=None,
        rate_max=parameters.path_rate_max,
        response_max_ms=path.bound_ms,
        service_rate=None,
        component=path.parts[0].component,
        heed_conditions=False,
    )


def rung_of(executors: tuple[int, ...], path: Path) -> int:
    """Return the number of the rung, from 1 on, that carries as much as some executors do.

    Args:
        executors: (n_parts,) of each part, on the ladder or not: what was granted in part is not.
        path: The path.
    """
    ladder = path.ladder
    if executors in ladder.executors:
        return ladder.executors.index(executors) + 1
    return max(1, int(np.searchsorted(ladder.kept, path.kept(executors) * (1.0 + _ROUNDING), side="right")))


def sample_of(samples: tuple[OperatorSample, ...], path: Path) -> OperatorSample:
    """Return one sample for the whole path, with the number of its rung as executors.

    It is paused also while a part drains a backlog although its executors keep up, and as busy as its busiest
    part.

    Args:
        samples: (n_parts,) of each part.
        path: The path.
    """
    first, rung = samples[0], rung_of(tuple(each.executors for each in samples), path)
    drains = any(
        each.backlog > 0.0 and each.arrival_rate < part.served(each.executors)
        for each, part in zip(samples, path.parts, strict=True)
    )
    busiest = max(sum(each.utilisation) / each.executors for each in samples)
    return OperatorSample(
        first.component,
        first.from_s,
        first.until_s,
        rung,
        first.arrival_rate / path.parts[0].per_item,
        (busiest,) * rung,
        sum(each.response_ms for each in samples),
        drains or any(each.paused for each in samples),
    )
