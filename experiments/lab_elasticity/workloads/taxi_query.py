"""Query 1 of the taxi queries, of which the three bolts in Python that keep nothing are scaled."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from experiments.folder_content import KeptVerdict, read_model
from experiments.lab_elasticity.profiles import ProfileDefaults
from experiments.lab_elasticity.sizes import sizes_for
from experiments.lab_elasticity.workloads.workload import WORKERS, Scaled
from experiments.lab_steps import NIMBUS, REDIS
from lab.places import PROJECT_ROOT
from replay.output import MARK
from replay.pipeline import VERDICT, evaluate_runs
from topologies.graphite_reporter import reporting_to
from topologies.taxi.keys import Run

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from experiments.lab_elasticity.profiles import ProfileName
    from experiments.lab_elasticity.workloads.workload import Feed, Start, WorkloadName

ROWS = PROJECT_ROOT / "data" / "debs2015" / "nyc2013_fullrate_17col_46450.csv.gz"
PROBES = 24
"""Rows that show that the way is open before the load begins."""
_COUNT = 46_450
_QUERY = "1"
_TASKS = 6
_SERVICE_MS = 100.0
_SINGLE_MS = 2.0
_ANSWERS = "answers"
FED = "rows.csv"
"""The rows that were fed, beside the answers."""


class TaxiQuery:
    """The ten most frequent routes; see `Workload`.

    On one machine that has two processors for all hosts a bolt in Python gains nothing from executors, which
    share its tasks' processes among them: the times that are stated stand for hosts of their own.
    """

    name: WorkloadName = "taxi"
    title = "Query 1 on taxi rows, of which three bolts are scaled as if a row took each a tenth of a second"
    sites = PROJECT_ROOT / "lab" / "sites" / "elasticity-taxi.toml"
    scaled = tuple(
        Scaled(name, _SERVICE_MS, _TASKS, stated=True)
        for name in ("parser", "filterByCoordinates", "computeRouteID")
    )
    single_ms: Mapping[str, float] = dict.fromkeys(
        ("metronome", "countByWindow", "partialRank", "globalRank"), _SINGLE_MS
    )
    executors_beside = 5
    profiles: Mapping[ProfileName, ProfileDefaults] = {
        "steps": ProfileDefaults(720.0, 3.3),
        "levels": ProfileDefaults(720.0, 3.3),
        "taxi": ProfileDefaults(3600.0, 3.0),
    }
    most_items: int | None = _COUNT - PROBES
    answers = True

    def lag(self, run: str) -> Mapping[str, object]:
        """Return what the loop asks Redis: rows that were fed and have no result; see `Workload`."""
        keys = Run(run)
        return {
            "kind": "redis",
            "address": REDIS,
            "counter": [keys.feed, "fed"],
            "done": [keys.progress, f"released:{_QUERY}"],
        }

    def submit(self, start: Start) -> Sequence[str]:
        """Return the arguments that submit it; its configuration goes to a file. See `Workload`."""
        conf = reporting_to(start.graphite) | {
            # what the stated time stands for is not computed here
            "topology.component.cpu.pcore.percent": 5.0,
            "topology.disable.loadaware.messaging": True,
        }
        file = start.folder / "topology-conf.json"
        file.write_text(json.dumps(conf, indent=2) + "\n", encoding="utf-8")
        arguments = ["-m", "cli.main", "taxi", "submit", "--nimbus", NIMBUS, "--redis", REDIS]
        arguments += ["--run", start.run, "--name", self.name, "--query", _QUERY, "--conf", str(file)]
        arguments += ["--workers", WORKERS]
        arguments += [f"--tasks={each.name}={each.tasks}" for each in self.scaled]
        sizes = sizes_for(self, start.rate)
        return [*arguments, *(f"--executors={name}={count}" for name, count in sizes.items())]

    def feed(self, feed: Feed) -> Sequence[str]:
        """Return the arguments that feed it; see `Workload`."""
        arguments = ["-m", f"{__package__}.feed_rows", "--redis", REDIS, "--run", feed.run]
        arguments += ["--rows", str(ROWS), "--due", str(feed.due), "--out", str(feed.items)]
        return [*arguments, "--answers", str(feed.folder / _ANSWERS)]

    def wrong(self, expected: Path, turns: Sequence[Path]) -> Sequence[str | None]:
        """Compare them with those that Spark computes from the rows that were fed; see `Workload`."""
        folders = [turn / _ANSWERS for turn in turns]
        source = None if (expected / MARK).is_file() else folders[0] / FED
        evaluate_runs(expected, folders, source=source)
        return [read_model(KeptVerdict, folder / VERDICT).first for folder in folders]
