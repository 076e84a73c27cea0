"""Response times of a run: percentiles by Spark over the rows that were fed at a set rate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documents use

from replay.errors import DataError
from replay.failures import reading
from replay.stream_files import RESULT_COLUMNS, RESULTS, read_results

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import Column, DataFrame, SparkSession

#: The distribution is kept as quantiles in steps of 0.5 %, so that its size does not grow with the run.
GRID = tuple(step / 200 for step in range(201))


@dataclass(frozen=True)
class Distribution:
    """One response time over all measured rows.

    Attributes:
        count: Rows.
        mean_ms: Mean.
        quantiles_ms: (201,) exact quantiles at 0, 0.005, ..., 1, linear between neighbouring rows.
    """

    count: int
    mean_ms: float
    quantiles_ms: tuple[float, ...]

    def percentile_ms(self, percent: float) -> float:
        """Return the percentile (0-100, in steps of 0.5) in ms."""
        return self.quantiles_ms[round(percent * 2)]

    def document(self) -> dict[str, Any]:
        """Return the distribution as JSON values."""
        return {
            "count": self.count,
            "mean_ms": self.mean_ms,
            "p50_ms": self.percentile_ms(50),
            "p90_ms": self.percentile_ms(90),
            "p95_ms": self.percentile_ms(95),
            "p99_ms": self.percentile_ms(99),
            "max_ms": self.percentile_ms(100),
            "quantiles_ms": list(self.quantiles_ms),
        }


@dataclass(frozen=True)
class Latency:
    """Response times of one run.

    Attributes:
        end_to_end: From the row being available in Redis to its result being back there.
        in_topology: From the data source's emit to globalRank.
    """

    end_to_end: Distribution
    in_topology: Distribution

    def document(self) -> dict[str, Any]:
        """Return both distributions as JSON values."""
        return {"end_to_end": self.end_to_end.document(), "in_topology": self.in_topology.document()}


def measure_run(spark: SparkSession, folder: Path) -> Latency:
    """Compute the response times of a run's paced rows.

    Args:
        spark: Session.
        folder: Folder with results.csv.

    Raises:
        DataError: The file is missing or malformed, holds no paced row, or a result is older than its row.
    """
    path = folder / RESULTS
    with reading(path):
        results = whole_results(spark, folder).persist()
        latency = measure(results.where("paced = 1"), path)
        results.unpersist()
    if latency is None:
        raise DataError(
            f"{path}: no row was fed at a set rate (column paced), so no response time can be taken"
        )
    return latency


def whole_results(spark: SparkSession, folder: Path) -> DataFrame:
    """Read results.csv of a run, of which no line is malformed.

    Returns:
        The columns of `replay.stream_files.RESULT_COLUMNS`, as bigint.

    Raises:
        DataError: The file is missing, has another header, or a line is malformed.
    """
    results = read_results(spark, folder)
    malformed = results.where("malformed").orderBy("line").first()
    if malformed is not None:
        path = folder / RESULTS
        raise DataError(f"{path}: line {malformed['line']} is not six whole numbers: {malformed['text']}")
    return results.select(*RESULT_COLUMNS)


def measure(rows: DataFrame, path: Path) -> Latency | None:
    """Compute the response times of some rows of a run.

    Args:
        rows: With the columns `row_ms`, `emit_us`, `done_us` and `result_ms`.
        path: File that they are from.

    Returns:
        Both response times, None if there are no rows.

    Raises:
        DataError: A result is older than its row.
    """
    end_to_end = (F.col("result_ms") - F.col("row_ms")).cast("double")
    in_topology = (F.col("done_us") - F.col("emit_us")) / 1000.0
    row = rows.agg(*_figures("end_to_end", end_to_end), *_figures("in_topology", in_topology)).first()
    if row is None or row["end_to_end_count"] == 0:
        return None
    latency = Latency(_distribution(row.asDict(), "end_to_end"), _distribution(row.asDict(), "in_topology"))
    for name, figures in (("end to end", latency.end_to_end), ("in the topology", latency.in_topology)):
        if figures.quantiles_ms[0] < 0:
            raise DataError(
                f"{path}: a result is {-figures.quantiles_ms[0]:g} ms older than its row ({name})"
            )
    return latency


def _figures(name: str, value: Column) -> list[Column]:
    grid = F.array(*[F.lit(step) for step in GRID])
    return [
        F.count(value).alias(f"{name}_count"),
        F.avg(value).alias(f"{name}_mean"),
        F.percentile(value, grid).alias(f"{name}_quantiles"),
    ]


def _distribution(row: dict[str, Any], name: str) -> Distribution:
    return Distribution(row[f"{name}_count"], row[f"{name}_mean"], tuple(row[f"{name}_quantiles"]))
