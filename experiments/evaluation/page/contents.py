"""What a report is made of: what was run, where, by which strategies, and whether the answers were right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from formats.site_file import SiteFile
    from replay.analysis.placement import ExecutorPlace
    from replay.analysis.predict import Prediction


@dataclass(frozen=True)
class Check:
    """The verdict on one query of one run.

    Attributes:
        query: Which query.
        equal: Whether all answers are those expected.
        sentence: What was compared, or the first difference.
    """

    query: int
    equal: bool
    sentence: str


@dataclass(frozen=True)
class StrategyRun:
    """One run: the same rows on the same network under one strategy.

    Attributes:
        name: As the run is called in the analysis.
        description: What places the executors, in one sentence.
        checks: Verdict on each query.
        places: Where the executors ran.
        prediction: What the decision core predicts for that placement with the true delays.
        by_query: The same for the streams of each query alone, by its number.
    """

    name: str
    description: str
    checks: tuple[Check, ...]
    places: tuple[ExecutorPlace, ...]
    prediction: Prediction
    by_query: Mapping[int, Prediction]


@dataclass(frozen=True)
class Evaluation:
    """All that a report shows.

    Attributes:
        title: Headline.
        facts: What was run, as pairs of a word and a sentence.
        runs: At least one.
        sites: The network.
        analysis: Document of `replay.analysis.analyse`; its runs are those of `runs`.
        origin: Machine, date and commit on one line.
        command: The command line that made it.
    """

    title: str
    facts: Mapping[str, str]
    runs: tuple[StrategyRun, ...]
    sites: SiteFile
    analysis: Mapping[str, Any]
    origin: str
    command: str

    @property
    def queries(self) -> tuple[int, ...]:
        """The queries that were answered, ascending."""
        return tuple(sorted({run["query"] for run in self.analysis["runs"]}))

    def analysed(self, query: int) -> list[dict[str, Any]]:
        """Return what the analysis found of one query, run by run in the order of `runs`."""
        order = [run.name for run in self.runs]
        mine = [run for run in self.analysis["runs"] if run["query"] == query]
        return sorted(mine, key=lambda run: order.index(run["run"]))

    def first_runs(self) -> list[dict[str, Any]]:
        """Return what the analysis found of the first run, query by query."""
        return [self.analysed(query)[0] for query in self.queries]
