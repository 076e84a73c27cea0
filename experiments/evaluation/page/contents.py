"""What a report is made of: what was run, where, by which strategies, and whether the answers were right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    from formats.site_file import SiteFile
    from replay.analysis.placement import ExecutorPlace
    from replay.analysis.predict import Prediction


QueryKey: TypeAlias = "int | str"
"""Number of a taxi query, or name of an application, which answers one alone."""


@dataclass(frozen=True)
class Subject:
    """One query, in words.

    Attributes:
        name: In a sentence.
        short: In a table.
        heading: Over its plots.
    """

    name: str
    short: str
    heading: str


@dataclass(frozen=True)
class Wording:
    """How a report speaks of the topology that ran.

    Attributes:
        noun: What a subject is.
        subjects: By query, in their order.
        compared: What results were compared with, in a sentence.
        times: What response times and predictions are.
        rates: What the plot of rows per second shows; None: there is no such plot.
    """

    noun: str
    subjects: Mapping[QueryKey, Subject]
    compared: str
    times: str
    rates: str | None


@dataclass(frozen=True)
class Check:
    """The verdict on one query of one run.

    Attributes:
        query: Which query, a key of `Wording.subjects`.
        equal: Whether all answers are those expected.
        sentence: What was compared, or the first difference.
    """

    query: QueryKey
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
        by_query: The same for the streams of each query alone, by the query's key.
        streams: Streams between components; None: those of the taxi queries.
    """

    name: str
    description: str
    checks: tuple[Check, ...]
    places: tuple[ExecutorPlace, ...]
    prediction: Prediction
    by_query: Mapping[Any, Prediction]
    streams: tuple[tuple[str, str], ...] | None = None


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
        wording: How the report speaks of what ran.
    """

    title: str
    facts: Mapping[str, str]
    runs: tuple[StrategyRun, ...]
    sites: SiteFile
    analysis: Mapping[str, Any]
    origin: str
    command: str
    wording: Wording

    @property
    def right(self) -> bool:
        """Whether all answers are those expected."""
        return all(check.equal for run in self.runs for check in run.checks)

    @property
    def queries(self) -> tuple[QueryKey, ...]:
        """The queries that were answered, in the order of the wording."""
        answered = {run["query"] for run in self.analysis["runs"]}
        return tuple(query for query in self.wording.subjects if query in answered)

    def analysed(self, query: QueryKey) -> list[dict[str, Any]]:
        """Return what the analysis found of one query, run by run in the order of `runs`."""
        order = [run.name for run in self.runs]
        mine = [run for run in self.analysis["runs"] if run["query"] == query]
        return sorted(mine, key=lambda run: order.index(run["run"]))

    def first_runs(self) -> list[dict[str, Any]]:
        """Return what the analysis found of the first run, query by query."""
        return [self.analysed(query)[0] for query in self.queries]
