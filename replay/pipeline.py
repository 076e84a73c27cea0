"""Everything about several runs in one Spark session: expected answers, comparison, response times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from replay.analysis.latency import measure_run
from replay.compare.compare import answered_queries, compare_queries
from replay.expected.compute import write_expected
from replay.expected.summary import query_folder
from replay.output import write_json
from replay.session import spark_session

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from replay.analysis.latency import Latency
    from replay.compare.verdict import RunVerdict

VERDICT = "verdict.json"
LATENCY = "latency.json"


@dataclass(frozen=True)
class RunEvaluation:
    """What one run came to.

    Attributes:
        folder: The run's folder; it now holds verdict.json and latency.json.
        verdict: Whether its answers are right.
        latency: Its response times.
    """

    folder: Path
    verdict: RunVerdict
    latency: Latency


def evaluate_runs(
    expected_dir: Path,
    run_dirs: Sequence[Path],
    source: Path | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> list[RunEvaluation]:
    """Compare and measure runs of the stream; each run's folder gets verdict.json and latency.json.

    Of a run that answered both queries, the verdict is on both and the response times are query 1's.

    Args:
        expected_dir: Folder of the expected answers.
        run_dirs: Folders of the runs, each with results.csv, states.jsonl, tops.csv and summary.json,
            those of query 2 in `query2`.
        source: The taxi file; if given, the expected answers are computed first, else they must be there.
        say: Receives one line per finished step.

    Returns:
        One entry per run, in the given order.

    Raises:
        DataError: Bad input, or Java is missing; the sentence names the file.
    """
    evaluations = []
    with spark_session() as spark:
        if source is not None:
            both = any(query_folder(folder, 2).is_dir() for folder in run_dirs)
            queries = (1, 2) if both else (1,)
            for query, summary in write_expected(spark, source, expected_dir, say, queries=queries).items():
                say(f"query {query}: {summary.sentence()}")
        for folder in run_dirs:
            verdict = compare_queries(spark, expected_dir, folder)
            write_json(folder / VERDICT, verdict.document())
            first = verdict.first
            say(f"{folder.name}: answers right" if first is None else f"{folder.name}: {first.sentence()}")
            latency = measure_run(spark, query_folder(folder, answered_queries(folder)[0]))
            write_json(folder / LATENCY, latency.document())
            say(f"{folder.name}: median {latency.end_to_end.percentile_ms(50):.1f} ms end to end")
            evaluations.append(RunEvaluation(folder, verdict, latency))
    return evaluations
