"""One run of a scheduler, read back from its folder for the report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, Field

from experiments.busy import read_busy
from experiments.folder_content import KeptVerdict, read_model
from replay.analysis.latency import GRID
from replay.analysis.placement import ExecutorPlace, read_placement
from replay.analysis.predict import CostModel, Prediction, predict
from replay.pipeline import LATENCY, VERDICT

if TYPE_CHECKING:
    from pathlib import Path

    from formats.site_file import SiteFile

Quantiles = Annotated[list[float], Field(min_length=len(GRID), max_length=len(GRID))]


class LatencyFigures(BaseModel):
    """Figures of one response time, as `replay.analysis.latency` writes them."""

    count: int
    mean_ms: float
    p50_ms: float
    p95_ms: float
    p99_ms: float
    quantiles_ms: Quantiles


class _LatencyFile(BaseModel):
    end_to_end: LatencyFigures
    in_topology: LatencyFigures


@dataclass(frozen=True)
class RunRecord:
    """What the report shows of one run.

    Attributes:
        scheduler: Name of the scheduler.
        wrong: The first difference from the expected answers in one sentence; None if the answers are right.
        end_to_end: Response time from Redis to Redis.
        in_topology: Response time from data source to globalRank.
        places: Where the executors ran.
        prediction: What the decision core predicts for this placement.
        busy: Share of the processors' time (0 to 1) that was used while times were measured; None: not known.
    """

    scheduler: str
    wrong: str | None
    end_to_end: LatencyFigures
    in_topology: LatencyFigures
    places: tuple[ExecutorPlace, ...]
    prediction: Prediction
    busy: float | None


def read_run(scheduler: str, folder: Path, sites: SiteFile, costs: CostModel | None = None) -> RunRecord:
    """Read a run folder with verdict.json, latency.json, placement.json and, if it was measured, busy.json.

    Args:
        scheduler: Name to show.
        folder: The run's folder.
        sites: The site file of the run.
        costs: Execution times and overhead per hop of the prediction.

    Raises:
        DataError: A file is missing or malformed.
    """
    latency = read_model(_LatencyFile, folder / LATENCY)
    verdict = read_model(KeptVerdict, folder / VERDICT)
    places = read_placement(folder, sites)
    return RunRecord(
        scheduler=scheduler,
        wrong=verdict.first,
        end_to_end=latency.end_to_end,
        in_topology=latency.in_topology,
        places=places,
        prediction=predict(places, sites, costs),
        busy=read_busy(folder),
    )
