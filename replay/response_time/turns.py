"""The finished turns of an experiment, read back from its folder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import BaseModel

from replay.experiment_folder import DONE, finished_turns, read_model
from replay.pipeline import VERDICT
from replay.placement import TAXI_STREAMS, read_placement
from replay.predict import predict
from replay.response_time.breakdown import legs
from replay.response_time.kept import PLANNED, Done, Planned
from replay.response_time.rows import read_rows

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from replay.placement import ExecutorPlace
    from replay.predict import Prediction
    from replay.response_time.breakdown import Leg
    from replay.sites import Sites


class _Difference(BaseModel):
    sentence: str


class _Verdict(BaseModel):
    equal: bool
    differences: list[_Difference]


@dataclass(frozen=True)
class TurnData:
    """One turn.

    Attributes:
        done: What it was.
        rows: The measured rows (`replay.response_time.rows`).
        places: Where the executors ran.
        prediction: What the decision core predicts for this placement with the true delays.
        legs: The way of the rows in parts.
        planned: The round that placed the query; None for Storm's own schedulers.
        verdict: `right`, `not checked`, or the first difference from the expected answers.
    """

    done: Done
    rows: pd.DataFrame
    places: tuple[ExecutorPlace, ...]
    prediction: Prediction
    legs: tuple[Leg, ...]
    planned: Planned | None
    verdict: str

    @property
    def label(self) -> str:
        """Variant and repetition."""
        return f"{self.done.variant}-{self.done.repetition}"

    @property
    def end_to_end_ms(self) -> pd.Series[float]:
        """From the row being in Redis to its result being there, per measured row (steps of 1 ms)."""
        return (self.rows["result_ms"] - self.rows["row_ms"]).astype("float64")

    @property
    def in_topology_ms(self) -> pd.Series[float]:
        """From the source's emit to globalRank, per measured row."""
        return (self.rows["done_us"] - self.rows["emit_us"]) / 1000.0

    @property
    def hosts(self) -> dict[str, str]:
        """Host of each executor."""
        return {f"{place.component}[{place.first_task}]": place.host for place in self.places}

    @property
    def sites(self) -> tuple[str, ...]:
        """Sites that the placement uses, by name."""
        return tuple(sorted({place.site for place in self.places}))

    @property
    def traffic_per_s(self) -> float:
        """Tuples per second that cross from site to site.

        One tuple per row runs over every stream; behind the filter one per row that passes.
        """
        site = {place.component: place.site for place in self.places}
        passed = len(self.rows) / self.done.measured_rows
        unfiltered = TAXI_STREAMS[:2]
        crossing = [stream for stream in TAXI_STREAMS if site[stream[0]] != site[stream[1]]]
        return self.done.rate * sum(1.0 if stream in unfiltered else passed for stream in crossing)


def read_turns(folder: Path, sites: Sites) -> tuple[TurnData, ...]:
    """Read all finished turns, by variant and repetition.

    Raises:
        DataError: A file is missing or malformed, or there is no finished turn.
    """
    turns = [_read(turn, sites) for turn in finished_turns(folder)]
    return tuple(sorted(turns, key=lambda turn: (turn.done.variant, turn.done.repetition)))


def _read(turn: Path, sites: Sites) -> TurnData:
    done = read_model(Done, turn / DONE)
    rows = read_rows(turn, done)
    places = read_placement(turn, sites)
    return TurnData(
        done=done,
        rows=rows,
        places=places,
        prediction=predict(places, sites),
        legs=legs(rows, places, sites),
        planned=None if done.strategy is None else read_model(Planned, turn / PLANNED),
        verdict=_verdict(turn / VERDICT),
    )


def _verdict(path: Path) -> str:
    if not path.is_file():
        return "not checked"
    verdict = read_model(_Verdict, path)
    return "right" if verdict.equal else verdict.differences[0].sentence
