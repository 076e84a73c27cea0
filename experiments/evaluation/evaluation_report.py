"""The end of an evaluation: answers verified and runs analysed on Spark, and the report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from experiments.busy import busy_sentence, read_busy
from experiments.evaluation.page.contents import Check, Evaluation, StrategyRun
from experiments.evaluation.page.evaluation_page import html
from experiments.machine import provenance
from experiments.reports.rendered import write_page
from replay.analysis.analyse import AnalysisInput, analyse
from replay.analysis.placement import read_placement
from replay.analysis.predict import predict, predict_queries
from replay.analysis.sites import read_sites
from replay.compare.compare import compare_queries
from replay.expected.compute import write_expected
from replay.output import write_json
from replay.pipeline import VERDICT
from replay.session import spark_session

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from typing import Any

    from experiments.evaluation.evaluation_data import Rows
    from experiments.evaluation.evaluation_settings import EvaluationSettings, Variant
    from experiments.progress import Progress
    from replay.compare.verdict import RunVerdict, Verdict

REPORT = "report.html"
EXPECTED, ANALYSIS = "expected", "analysis"
_QUERIES = {"1": (1,), "2": (2,), "both": (1, 2)}
_ASKED = {
    "1": "Query 1: the ten most frequent routes of the last 30 minutes",
    "2": "Query 2: the ten most profitable areas (median fare and tip of 15 minutes, per empty taxi)",
    "both": "Both queries at once: the ten most frequent routes of the last 30 minutes, and the ten most "
    "profitable areas (median fare and tip of 15 minutes, per empty taxi)",
}


@dataclass(frozen=True)
class Finished:
    """What an evaluation came to.

    Attributes:
        report: The report's path.
        analysis: Document of `replay.analysis.analyse`.
        busy: How busy the processors were, in one sentence.
        right: Whether all answers are those expected.
    """

    report: Path
    analysis: dict[str, Any]
    busy: str
    right: bool


def finish(
    settings: EvaluationSettings,
    folder: Path,
    rows: Rows,
    runs: Mapping[Variant, Path],
    progress: Progress,
) -> Finished:
    """Verify, analyse and report the runs of an evaluation.

    Args:
        settings: What was run.
        folder: The evaluation's folder.
        rows: The rows that were replayed.
        runs: Folder of each run.
        progress: Where steps are shown.

    Raises:
        replay.errors.DataError: A file is missing or malformed, or cannot be written.
    """
    progress.step("verification: expected answers on Spark")
    records = folder / "lab" / "records"
    given = AnalysisInput(
        runs=tuple(runs.values()),
        records=records if any(records.glob("rounds-*")) else None,
        sites=settings.sites,
    )
    with spark_session() as spark:
        queries = _QUERIES[settings.query]
        write_expected(spark, rows.path, folder / EXPECTED, progress.detail, queries=queries)
        verdicts = {}
        for variant, run in runs.items():
            verdicts[variant] = compare_queries(spark, folder / EXPECTED, run)
            write_json(run / VERDICT, verdicts[variant].document())
            progress.detail(f"{variant.name}: {'right' if verdicts[variant].equal else 'WRONG'}")
        progress.step("analysis on Spark")
        document = analyse(spark, given, folder / ANALYSIS, progress.detail)
    progress.step("report")
    report = folder / REPORT
    evaluation = _evaluation(settings, rows, runs, verdicts, document)
    write_page(html(evaluation), report)
    progress.stop()
    right = all(verdict.equal for verdict in verdicts.values())
    return Finished(report, document, evaluation.facts["Machine"], right)


def _evaluation(
    settings: EvaluationSettings,
    rows: Rows,
    runs: Mapping[Variant, Path],
    verdicts: Mapping[Variant, RunVerdict],
    document: dict[str, Any],
) -> Evaluation:
    sites = read_sites(settings.sites)
    told = []
    for variant, run in runs.items():
        places = read_placement(run, sites)
        checks = tuple(
            Check(query, verdict.equal, _sentence(verdict))
            for query, verdict in sorted(verdicts[variant].by_query.items())
        )
        told.append(
            StrategyRun(
                *(variant.name, variant.description, checks, places),
                prediction=predict(places, sites),
                by_query=predict_queries(places, sites),
            )
        )
    which = "queries 1 and 2" if settings.query == "both" else f"query {settings.query}"
    facts = {
        "Workload": f"{_ASKED[settings.query]} (DEBS 2015 Grand Challenge), as a topology of Python "
        f"components on Apache Storm, one task each",
        "Data": rows.told,
        "Feeding": _feeding(settings, rows),
        "Machine": busy_sentence({variant.name: read_busy(run) for variant, run in runs.items()}),
        "Cluster": f"{len(sites.hosts)} supervisors in network namespaces of one machine; the delays between "
        f"{len(sites.names)} sites are emulated ({settings.sites.name})",
    }
    return Evaluation(
        title=f"DEBS 2015 taxi trips, {which}: {', '.join(variant.name for variant in runs)}",
        facts=facts,
        runs=tuple(told),
        sites=sites,
        analysis=document,
        origin=provenance().line(),
        command=settings.command,
    )


def _sentence(verdict: Verdict) -> str:
    if verdict.first is not None:
        return verdict.first.sentence()
    return (
        f"{verdict.rows_answered:,} rows answered, {verdict.instants:,} states (one per drop-off instant) "
        "and "
        f"{verdict.output_rows:,} output rows agree"
    )


def _feeding(settings: EvaluationSettings, rows: Rows) -> str:
    feeding = settings.feeding
    fast = feeding.fast_rows(rows.count)
    how = (
        f"{feeding.rate:g} rows/s"
        if feeding.speed is None
        else f"{feeding.speed:g} times the speed at which the trips ended"
    )
    return (
        f"{fast:,} rows as fast as they are consumed, then {rows.count - fast:,} rows at {how}, "
        "from which response times are taken"
    )
