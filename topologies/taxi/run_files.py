"""The files of one query of a run, written from the entries of its results."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import Counter
from typing import TYPE_CHECKING, Self

from topologies.batches.ranges import unpack_ranges
from topologies.taxi.challenge import time_text
from topologies.taxi.trail import STAMPS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from typing import TextIO

RESULT_COLUMNS = ("n", "row_ms", "emit_us", "done_us", "result_ms", "paced")


class RunFiles:
    """Writes results.csv, trails.csv, tops.csv, output.csv and states.jsonl.

    Args:
        folder: Where to; it exists.
        query: The query, `1` or `2`.

    Attributes:
        fast_rows: Rows before the paced ones, as far as the feeder has come.
        next: The row that has to come next.
        rejected: Rows turned away, by reason.
        results: Rows that count.
        tops: Changes of the ten best.
        instants: Drop-off instants.
        faults: Sentences on entries that are missing or wrong.
        ended: Whether the end has come.
    """

    def __init__(self, folder: Path, query: str) -> None:
        self.fast_rows = 0
        names = ("results.csv", "trails.csv", "tops.csv", "output.csv", "states.jsonl")
        self._files: list[TextIO] = [(folder / name).open("w", encoding="utf-8") for name in names]
        self._results, self._trails, self._tops, self._output, self._states = self._files
        self._stamps = len(STAMPS[query])
        self._results.write(",".join(RESULT_COLUMNS) + "\n")
        self._trails.write(",".join(("n", *(f"{stamp}_us" for stamp in STAMPS[query]))) + "\n")
        self.next = 1
        self.rejected: Counter[str] = Counter()
        self.results = self.tops = self.instants = 0
        self.faults: list[str] = []
        self.ended = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for file in self._files:
            file.close()

    def add(self, identity: str, fields: Mapping[str, str]) -> None:
        """Add the next entry of the results; one that is malformed is noted as a fault and left out.

        Args:
            identity: Its id in Redis.
            fields: Its fields.
        """
        try:
            self._add(identity, fields)
        except (KeyError, ValueError, IndexError) as error:
            self.faults.append(
                f"entry {identity} of the results is malformed: {type(error).__name__} {error}"
            )

    def _add(self, identity: str, fields: Mapping[str, str]) -> None:
        first, following = int(fields["first"]), int(fields["next"])
        emit_us, done_us, trail = int(fields["emit_us"]), int(fields["done_us"]), fields["trail"].split(" ")
        if len(trail) != self._stamps:
            raise ValueError(f"its trail has {len(trail)} moments, not {self._stamps}")
        passed = list(unpack_ranges(fields["passed"]))
        reasons = [part.split(" ")[1] for part in fields["rejected"].split(";") if part]
        available = [tuple(map(int, part.split(" "))) for part in fields["available"].split(";")]
        if first < self.next:
            self.faults.append(f"results of rows {first} to {following - 1} came again")
            return
        if first > self.next:
            self.faults.append(f"results of rows {self.next} to {first - 1} are missing")
        self.next = following
        self._write_rows(passed, available, emit_us, done_us, int(identity.split("-", maxsplit=1)[0]))
        stamps = ",".join(trail)
        self._trails.writelines([f"{n},{stamps}\n" for n in passed])
        self._write_answers(fields["tops"], fields["states"], (done_us - emit_us) / 1e6)
        self.rejected.update(reasons)
        self.results += len(passed)
        if "end" in fields:
            self.ended = True
        elif len(passed) + len(reasons) != following - first:
            self.faults.append(
                f"of rows {first} to {following - 1} {len(passed)} passed and {len(reasons)} were rejected"
            )

    def _write_rows(
        self, passed: list[int], available: list[tuple[int, ...]], emit_us: int, done_us: int, result_ms: int
    ) -> None:
        rows = [entry[0] for entry in available]
        self._results.writelines(
            [
                f"{n},{available[bisect_right(rows, n) - 1][1]},{emit_us},{done_us},{result_ms},"
                f"{int(n > self.fast_rows)}\n"
                for n in passed
            ]
        )

    def _write_answers(self, tops: str, states: str, delay_s: float) -> None:
        for line in tops.split("\n") if tops else ():
            row = line.partition(" ")[2]
            self._tops.write(f"{row}\n")
            self._output.write(f"{row},{delay_s:.6f}\n")
            self.tops += 1
        for line in states.split("\n") if states else ():
            n, time_s, state = line.split(" ", 2)  # the state is JSON already
            dropoff = json.dumps(time_text(int(time_s)))
            self._states.write(f'{{"n":{int(n)},"dropoff":{dropoff},"state":{state}}}\n')
            self.instants += 1
