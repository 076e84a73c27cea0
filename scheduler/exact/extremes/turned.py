"""Problems turned around: their best placement is the worst one of the given problem in one metric."""

from __future__ import annotations

from scheduler.model.objective import Scale
from scheduler.model.problem import Problem


class TurnedProblem(Problem):
    """A problem whose F is 1 minus F of the same problem, whose objective is one metric alone.

    Everything that takes F from `Problem.scale` (evaluation, linear form, searches) then maximises the
    metric. All factors are negative: what is built on R as a maximum that pushes F up does not apply
    (see `scheduler.exact.extremes.longest_paths`); sums over operators and streams may have any sign.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        turned = {
            # factor (x - best) becomes 1 - factor (x - best)
            metric: (-factor, best + 1.0 / factor) if factor else (factor, best)
            for metric, (factor, best) in self.scale.terms.items()
        }
        object.__setattr__(self, "scale", Scale(turned))
