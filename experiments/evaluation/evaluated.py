"""What an evaluation asks of the topology that it runs.

`taxi_evaluation` and `synthetic_evaluation` each have an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from experiments.evaluation.compared import Variant
from experiments.progress import Progress

if TYPE_CHECKING:
    from experiments.evaluation.page.contents import StrategyRun, Wording
    from experiments.topologies.description import Description, FeedCommand, Say


@dataclass(frozen=True)
class Judged:
    """What the runs came to.

    Attributes:
        runs: One for each strategy, in order.
        analysis: A document as `replay.analysis.analyse` returns it.
    """

    runs: tuple[StrategyRun, ...]
    analysis: dict[str, Any]


Judge = Callable[[Path, Mapping[Variant, Path], Progress], Judged]
"""Verifies and analyses runs (the evaluation's folder, each run's, two steps of the display).

It leaves `verdict.json` in each run's folder and the analysis in the evaluation's.
"""


@dataclass(frozen=True)
class Prepared:
    """A topology that is ready to run.

    Attributes:
        description: What is submitted and collected.
        feeding: How it is fed; None: its sources make what they emit.
        title: What is evaluated, for the report's headline.
        facts: What is run, as pairs of a word and a sentence.
        wording: How the report speaks of it.
        judge: Verifies and analyses its runs.
        conf: Further configuration of the topology under Stormplace.
    """

    description: Description
    feeding: FeedCommand | None
    title: str
    facts: Mapping[str, str]
    wording: Wording
    judge: Judge
    conf: Mapping[str, object] = field(default_factory=dict)


class Evaluated(Protocol):
    """A topology that an evaluation can run."""

    def check(self) -> None:
        """Refuse bad input, before anything is started.

        Raises:
            replay.errors.DataError: The sentence names the file.
        """
        ...

    def prepare(self, folder: Path, site_file: Path, say: Say, /) -> Prepared:
        """Make what the runs on a lab of that site file need, in the evaluation's folder.

        Raises:
            ExperimentError: It cannot run as asked.
            replay.errors.DataError: Its data cannot be read.
        """
        ...
