"""`inop-exact`: the optimal placement over edge, fog and cloud, with its proof (paper 002, section III)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from scheduler.contract.strategy import Context, StrategyEntry, Suggestion
from scheduler.exact.flows.placing import place_exactly

if TYPE_CHECKING:
    from scheduler.model.problem import Problem


@dataclass(frozen=True)
class InopExactParameters:
    """Settings of `inop-exact`.

    Attributes:
        model: Variables of flows: per link (``flow``), cut until fixed routes hold, or per pair of places
            (``pair``), as the paper has it, many times as many.
    """

    model: Literal["flow", "pair"] = "flow"

    def __post_init__(self) -> None:
        if self.model not in ("flow", "pair"):
            raise ValueError(f"model: expected flow or pair, got {self.model!r}")


def inop_exact(problem: Problem, parameters: InopExactParameters, context: Context, /) -> Suggestion:
    """Return an optimal placement, or the best one known at the end with a bound on F.

    Complexity: exponential in the worst case.
    """
    return place_exactly(problem, context, all_pairs=parameters.model == "pair")


ENTRY = StrategyEntry(
    name="inop-exact",
    solve=inop_exact,
    parameters=InopExactParameters,
    summary="the optimal placement over links with costs and bandwidths, with its proof",
    exact=True,
    anytime=True,
    ends_with_proof=True,
    needs=("links",),
)
