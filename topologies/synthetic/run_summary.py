"""What a run measured, and its files."""

from __future__ import annotations

import csv
import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from topologies.synthetic.results import is_judged

if TYPE_CHECKING:
    from pathlib import Path

    from topologies.synthetic.results import MeasuredPath, MeasuredStream
    from topologies.synthetic.workload import Workload

SUMMARY = "summary.json"
PATH_COLUMNS = ("path", "operators", "tuples", "p50_ms", "p95_ms")
STREAM_COLUMNS = (
    *("from", "to", "asked_rate", "rate", "asked_bytes", "bytes", "sent", "received", "hop_p50_ms"),
    "hop_p95_ms",
)


@dataclass(frozen=True, slots=True)
class RunSummary:
    """What a run measured.

    Attributes:
        workload: What was run.
        tuples: Tuples that reached a sink.
        paths: All paths, the longest first.
        streams: By number in the workload.
        work: Milliseconds (median) that each operator worked on a tuple, by name.
        faults: What is wrong, one phrase each.
        replayed: Tuples that sources sent again, as Storm's acking called them lost.
    """

    workload: Workload
    tuples: int
    paths: tuple[MeasuredPath, ...]
    streams: tuple[MeasuredStream, ...]
    work: dict[str, float]
    faults: tuple[str, ...]
    replayed: int = 0

    @property
    def longest(self) -> MeasuredPath | None:
        """The path whose delay is the response time; None if none has enough tuples."""
        return self.paths[0] if self.paths and is_judged(self.paths[0]) else None

    @property
    def unjudged(self) -> int:
        """Paths with too few tuples to be compared."""
        return sum(not is_judged(path) for path in self.paths)

    def document(self) -> dict[str, Any]:
        """Return it as JSON-like values."""
        return asdict(self) | {"response_time": self.longest and asdict(self.longest)}


def write_summary(folder: Path, run: str, summary: RunSummary) -> None:
    """Write `paths.csv`, `streams.csv` and `summary.json`."""
    document = {"run": run} | summary.document()
    (folder / SUMMARY).write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    with (folder / "paths.csv").open("w", encoding="utf-8", newline="") as file:
        sheet = csv.writer(file, lineterminator="\n")
        sheet.writerow(PATH_COLUMNS)
        for path in summary.paths:
            delays = path.delays
            sheet.writerow(
                [path.number, " > ".join(path.operators), delays.tuples, delays.p50_ms, delays.p95_ms]
            )
    names = [operator.name for operator in summary.workload.operators]
    with (folder / "streams.csv").open("w", encoding="utf-8", newline="") as file:
        sheet = csv.writer(file, lineterminator="\n")
        sheet.writerow(STREAM_COLUMNS)
        for asked, got in zip(summary.workload.streams, summary.streams, strict=True):
            hop = (got.hop.p50_ms, got.hop.p95_ms) if got.hop is not None else (None, None)
            sheet.writerow(
                [
                    *(names[asked.source], names[asked.target], asked.rate, got.rate),
                    *(asked.tuple_bytes, got.tuple_bytes, got.sent, got.received, *hop),
                ]
            )
