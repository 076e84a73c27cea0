"""The scheduler's rounds, from the daemon's records: what was decided for each topology, at what price."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from bridge.record.record import RecordError, read_records
from bridge.wire.contract import WireError
from bridge.wire.encoding import decode_response
from bridge.wire.messages import Decision
from replay.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from pyspark.sql import DataFrame, SparkSession

COLUMNS = (
    "time_s double, topology string, decision string, strategy string, objective double, "
    "response_time_ms double, bound double, gain double, executors_moved bigint, workers_moved bigint, "
    "plan_ms double, timed_out boolean, status string"
)
_DECISIONS = {Decision.KEEP: "keep", Decision.ASSIGN: "assign", Decision.UNPLACEABLE: "unplaceable"}


def read_rounds(spark: SparkSession, records: Path) -> DataFrame:
    """Read the rounds of a folder of records, each of its files by one task.

    Returns:
        One row per round and topology, by time: `time_s` (unix time at which the round began), `topology`
        (Storm's id), `decision` (`keep`, `assign`, `unplaceable`), `strategy`, `objective` (F),
        `response_time_ms` (R) and `bound` where they are known, the price of a move (`gain` as a fraction of
        F, `executors_moved`, `workers_moved`; 0 without one), `plan_ms`, `timed_out`, `status`.

    Raises:
        DataError: The folder is missing or holds no records, or a record cannot be read.
    """
    if not records.is_dir():
        raise DataError(f"{records}: no folder of records")
    files = sorted(str(path.resolve()) for path in records.glob("rounds-*.jsonl.gz"))
    if not files:
        raise DataError(f"{records}: the folder holds no records (rounds-*.jsonl.gz)")
    answers = spark.sparkContext.parallelize(files, len(files)).map(_read_file)
    broken = answers.map(lambda answer: answer[1]).filter(lambda fault: fault is not None).take(1)
    if broken:
        raise DataError(str(broken[0]))
    rows = answers.flatMap(lambda answer: answer[0])
    return spark.createDataFrame(rows, COLUMNS).orderBy("time_s", "topology")


def _read_file(path: str) -> tuple[list[tuple[Any, ...]], str | None]:
    """Return the rows of one file, or why it cannot be read."""
    try:
        return list(_rows(Path(path))), None
    except (RecordError, WireError) as error:
        return [], str(error)


def _rows(path: Path) -> Iterator[tuple[Any, ...]]:
    for record in read_records(path):
        for plan in decode_response(record.response).plans:
            price = plan.price
            yield (
                *(record.time_s, plan.topology_id, _DECISIONS[plan.decision], plan.strategy),
                *(plan.objective, plan.response_time_ms, plan.bound),
                *((0.0, 0, 0) if price is None else (price.gain, price.executors_moved, price.workers_moved)),
                *(record.timings_ms["plan"], record.timed_out, plan.status),
            )
