"""`local-search`: descent over three neighbourhoods (paper 000, section 6.2 and Algorithm 4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from scheduler.base.checks import whole_number
from scheduler.contract.strategy import Context, StrategyEntry, Suggestion
from scheduler.search.local_optimum import MOST_ITERATIONS, local_optimum

if TYPE_CHECKING:
    from scheduler.model.problem import Problem


@dataclass(frozen=True)
class LocalSearchParameters:
    """Settings of `local-search`.

    Attributes:
        start: ``greedy``: begin with the greedy placement (the paper's way). ``current``: begin with
            `Problem.current` if it is complete, feasible and no worse than greedy, else with greedy.
        max_rounds: Iterations over the three neighbourhoods after which to stop (>= 0); a local optimum ends
            the search earlier.
    """

    start: Literal["greedy", "current"] = "greedy"
    max_rounds: int = MOST_ITERATIONS

    def __post_init__(self) -> None:
        if self.start not in ("greedy", "current"):
            raise ValueError(f'start: expected "greedy" or "current", got {self.start!r}')
        whole_number("max_rounds", self.max_rounds, 0)

    @property
    def at_current(self) -> bool:
        """Whether `Problem.current` is the start."""
        return self.start == "current"


def local_search(problem: Problem, parameters: LocalSearchParameters, context: Context, /) -> Suggestion:
    """Improve the start until no neighbour is better; see `local_optimum`."""
    return local_optimum(
        problem,
        context,
        from_current=parameters.at_current,
        most_iterations=parameters.max_rounds,
    )


ENTRY = StrategyEntry(
    name="local-search",
    solve=local_search,
    parameters=LocalSearchParameters,
    summary="descent from greedy: co-locate, swap resources, move single operators",
    anytime=True,
    never_worse_than_greedy=True,
    starts_at_current=lambda parameters: parameters.at_current,
)
