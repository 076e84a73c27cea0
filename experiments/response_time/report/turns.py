"""The finished turns of an experiment, read back from its folder."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import BaseModel

from experiments.folder_content import DONE, KeptVerdict, finished_turns, read_model
from replay.analysis.breakdown import legs
from replay.analysis.kept_turn import PLANNED, Done, Planned
from replay.analysis.measured_rows import read_rows
from replay.analysis.placement import PLACEMENT, TAXI_STREAMS, read_placement
from replay.analysis.predict import SINK, SOURCE, predict
from replay.pipeline import VERDICT
from scheduler.evaluation.evaluate import OBJECTIVE_STEP

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from formats.site_file import SiteFile
    from replay.analysis.breakdown import Leg
    from replay.analysis.placement import ExecutorPlace
    from replay.analysis.predict import Prediction


RIGHT, NOT_CHECKED = "right", "not checked"

_SEARCH = re.compile(r"\(\d+ states? traversed in (\d+) ms\b")
"""What Storm's resource-aware scheduler states of its search; the others state nothing."""
_PROOF_STEP = 2 * OBJECTIVE_STEP
"""A gap below this is none: placements within one step are equal, and the rest is rounding."""


@dataclass(frozen=True)
class TurnData:
    """One turn.

    Attributes:
        done: What it was.
        rows: The measured rows (`replay.analysis.measured_rows`).
        places: Where the executors ran.
        prediction: What the decision core predicts for this placement with the true delays.
        legs: The way of the rows in parts.
        planned: The round that placed the query; None for Storm's own schedulers.
        placing_ms: Time for placing the query: the planning of that round, or the search that the
            resource-aware scheduler states; None for Storm's other schedulers, which state none.
        services: Site of Redis, where rows come from and results go.
        verdict: `right`, `not checked`, or the first difference from the expected answers.
    """

    done: Done
    rows: pd.DataFrame
    places: tuple[ExecutorPlace, ...]
    prediction: Prediction
    legs: tuple[Leg, ...]
    planned: Planned | None
    placing_ms: float | None
    services: str
    verdict: str

    @property
    def label(self) -> str:
        """Variant and repetition."""
        return f"{self.done.variant}-{self.done.repetition}"

    @property
    def wrong(self) -> bool:
        """Whether its answers were found to be wrong."""
        return self.verdict not in {RIGHT, NOT_CHECKED}

    @property
    def proved(self) -> bool:
        """Whether it is proved that no placement is better by the daemon's delays: its bound is its F."""
        found = self.planned
        if found is None or found.objective is None or found.bound is None:
            return False
        return found.objective - found.bound <= _PROOF_STEP

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
        """Tuples per second that cross from site to site, the ways from and to Redis included.

        Computed from the placement and the rates: one tuple per row comes from Redis and runs over every
        stream; behind the filter one per row that passes, up to its result's way back to Redis.
        """
        site = {place.component: place.site for place in self.places}
        passed = len(self.rows) / self.done.measured_rows
        per_row = {stream: 1.0 if stream in TAXI_STREAMS[:2] else passed for stream in TAXI_STREAMS}
        ways = [(site[start], site[end], tuples) for (start, end), tuples in per_row.items()]
        ways += [(self.services, site[SOURCE], 1.0), (site[SINK], self.services, passed)]
        return self.done.rate * sum(tuples for start, end, tuples in ways if start != end)


def read_turns(folder: Path, sites: SiteFile) -> tuple[TurnData, ...]:
    """Read all finished turns, by variant and repetition.

    Raises:
        DataError: A file is missing or malformed, or there is no finished turn.
    """
    turns = [_read(turn, sites) for turn in finished_turns(folder)]
    return tuple(sorted(turns, key=lambda turn: (turn.done.variant, turn.done.repetition)))


def _read(turn: Path, sites: SiteFile) -> TurnData:
    done = read_model(Done, turn / DONE)
    rows = read_rows(turn, done)
    places = read_placement(turn, sites)
    planned = None if done.strategy is None else read_model(Planned, turn / PLANNED)
    return TurnData(
        done=done,
        rows=rows,
        places=places,
        prediction=predict(places, sites),
        legs=legs(rows, places, sites),
        planned=planned,
        placing_ms=_search_ms(turn) if planned is None else planned.plan_ms,
        services=sites.redis,
        verdict=_verdict(turn / VERDICT),
    )


class _Status(BaseModel):
    scheduler_status: str = ""


def _search_ms(turn: Path) -> float | None:
    found = _SEARCH.search(read_model(_Status, turn / PLACEMENT).scheduler_status)
    return None if found is None else float(found[1])


def _verdict(path: Path) -> str:
    if not path.is_file():
        return NOT_CHECKED
    return read_model(KeptVerdict, path).first or RIGHT
