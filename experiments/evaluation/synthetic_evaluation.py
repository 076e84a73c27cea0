"""A synthetic application in an evaluation: its own counts verify it, its tuples' times are analysed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import BaseModel

from experiments.evaluation.evaluated import Judged, Prepared
from experiments.evaluation.page.contents import Check, StrategyRun, Subject, Wording
from experiments.folder_content import read_model
from experiments.topologies.synthetic_application import predicted, synthetic_application
from replay.analysis.analyse import ANALYSIS
from replay.analysis.latency import GRID, Distribution
from replay.analysis.placement import ExecutorPlace
from replay.analysis.predict import Prediction
from replay.analysis.rounds import read_rounds
from replay.analysis.sites import read_sites
from replay.analysis.timeline import slice_width_s
from replay.csv_table import read_whole_numbers
from replay.output import read_json, write_json
from replay.pipeline import VERDICT
from replay.session import spark_session
from replay.stream_files import SUMMARY

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from experiments.evaluation.compared import Variant
    from experiments.progress import Progress
    from experiments.topologies.description import Description, Say
    from formats.site_file import SiteFile
    from topologies.synthetic.workload import Workload


# an operator that is moved loses the tuples that it holds, and the run would not be complete
_CONF: dict[str, object] = {"topology.stormplace.frozen": True}


class _Path(BaseModel):
    number: int


class _Summary(BaseModel):
    tuples: int
    response_time: _Path
    faults: list[str]


@dataclass(frozen=True)
class SyntheticEvaluation:
    """An application of operators and streams.

    Attributes:
        name: Name of the topology.
        workload: What it does.
        arguments: What asks `synthetic submit` for it.
    """

    name: str
    workload: Workload
    arguments: tuple[str, ...]

    def check(self) -> None:
        """Refuse nothing: a workload has been checked when it was made."""

    def prepare(self, _folder: Path, site_file: Path, _say: Say, /) -> Prepared:
        """Return the topology; see `Evaluated`."""
        workload, name = self.workload, self.name
        description = synthetic_application(
            name,
            [each.name for each in workload.operators],
            site_file,
            self.arguments,
            warm_up_s=workload.warm_up_s,
            ends=tuple(workload.operators[end].component for end in (*workload.sources, *workload.sinks)),
        )
        return Prepared(
            description=description,
            feeding=None,
            conf=_CONF,
            title=f"Application {name}",
            facts={
                "Workload": f"{len(workload.operators)} operators and {len(workload.streams)} streams, as a "
                "topology of Python components on Apache Storm, one task each",
                "Feeding": f"sources make tuples for {workload.warm_up_s:g} s, and then {workload.tuples:,} "
                f"in {workload.duration_s:.0f} s, from which response times are taken",
            },
            wording=_wording(name),
            judge=partial(self._judged, description, site_file),
        )

    def _judged(
        self,
        description: Description,
        site_file: Path,
        folder: Path,
        runs: Mapping[Variant, Path],
        progress: Progress,
    ) -> Judged:
        progress.step("verification: predicted response times")
        description.verify(folder, list(runs.values()), progress.detail)
        sites = read_sites(site_file)
        found = tuple(self._run(variant, run, site_file, sites) for variant, run in runs.items())
        progress.step("analysis")
        analysis = {
            "runs": [_times(self.name, variant.name, run) for variant, run in runs.items()],
            "rounds": _rounds(folder / "lab" / "records"),
            "changes": [],
        }
        (folder / "analysis").mkdir()
        write_json(folder / "analysis" / ANALYSIS, analysis)
        return Judged(found, analysis)

    def _run(self, variant: Variant, run: Path, site_file: Path, sites: SiteFile) -> StrategyRun:
        measured, placement, hosts, core = predicted(run, self.name, site_file)
        workload = measured.workload
        component = {each.name: each.component for each in workload.operators}
        site = dict(zip(component.values(), (sites.hosts[host] for host in hosts), strict=True))
        path = tuple(component[name] for name in core.operators)
        ids = tuple(component.values())
        streams = tuple((ids[each.source], ids[each.target]) for each in workload.streams)
        prediction = Prediction(
            response_time_ms=core.response_time_ms,
            end_to_end_ms=core.response_time_ms,
            critical_path=path,
            streams_between_sites=sum(site[start] != site[end] for start, end in streams),
            critical_hops=sum(site[start] != site[end] for start, end in pairwise(path)),
        )
        summary, verdict = read_model(_Summary, run / SUMMARY), read_json(run / VERDICT)
        right = (
            f"{summary.tuples:,} tuples arrived, and the counts of {len(streams)} streams agree; "
            f"{verdict['deviation_ms']:+.1f} ms from the predicted response time"
        )
        return StrategyRun(
            name=variant.name,
            description=variant.description,
            checks=(Check(self.name, not summary.faults, "; ".join(summary.faults) or right),),
            places=tuple(
                ExecutorPlace(each.component, each.first_task, each.host, each.port, sites.hosts[each.host])
                for each in placement.executors
                if each.component in component.values()
            ),
            prediction=prediction,
            by_query={self.name: prediction},
            streams=streams,
        )


def _times(name: str, label: str, run: Path) -> dict[str, Any]:
    """Return the response times of a run as an analysis has them: of the tuples on the longest path."""
    table = read_whole_numbers(run / "tuples.csv", ("path", "emit_us", "delay_us"))
    rows = table[table["path"] == read_model(_Summary, run / SUMMARY).response_time.number]
    times_ms, begun_s = rows["delay_us"] / 1e3, (rows["emit_us"] - rows["emit_us"].min()) / 1e6
    span_s = float(begun_s.max())
    slice_s = slice_width_s(span_s)
    quantiles = tuple(np.quantile(times_ms, GRID).tolist())
    slices = times_ms.groupby((begun_s // slice_s).astype(int) * slice_s)
    return {
        "run": label,
        "query": name,
        "rows": len(rows),
        "measured": len(rows),
        "rows_per_s": len(rows) / span_s if span_s else None,
        "slice_s": slice_s,
        "latency": {"end_to_end": Distribution(len(rows), float(times_ms.mean()), quantiles).document()},
        "timeline": [
            {
                "start_s": start_s,
                "measured": len(each),
                "p50_ms": each.median(),
                "p95_ms": each.quantile(0.95),
            }
            for start_s, each in slices
        ],
        "demand": [],
        "ranked": [],
        "legs": [],
        "parts": None,
    }


def _rounds(records: Path) -> list[dict[str, Any]]:
    if not any(records.glob("rounds-*")):
        return []
    with spark_session() as spark:
        return [row.asDict() for row in read_rounds(spark, records).collect()]


def _wording(name: str) -> Wording:
    return Wording(
        noun="application",
        subjects={name: Subject(name, name, f"Application {name}")},
        compared="By the operators' own counts: each took all tuples that the ones before it passed on.",
        times="Response times in ms, from a source's beginning to work on a tuple to the sink's having done "
        "so, of the tuples on the path with the greatest median. Predicted: what the decision core expects "
        "of this placement with the true delays, without queues and what a hop costs in Storm.",
        rates=None,
    )
