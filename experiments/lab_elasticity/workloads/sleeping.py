"""Two bolts that sleep, one after the other: executors are busy, and next to no processor is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from experiments.lab_elasticity.profiles import ProfileDefaults
from experiments.lab_elasticity.workloads.workload import WORKERS, Scaled
from experiments.lab_steps import NIMBUS, REDIS
from lab.places import PROJECT_ROOT, STORM_HOME
from topologies.sleeping.configuration import SleepingRun
from topologies.sleeping.sleeping_submission import SINK

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from experiments.lab_elasticity.profiles import ProfileName
    from experiments.lab_elasticity.workloads.workload import Feed, Start, WorkloadName

_PACKAGE = "experiments.lab_elasticity.workloads"


class Sleeping:
    """The sleeping topology; see `Workload`."""

    name: WorkloadName = "sleeping"
    title = "Two bolts that sleep, one after the other"
    sites = PROJECT_ROOT / "lab" / "sites" / "elasticity.toml"
    # many executors for few items a second, as what moves items needs the machine's processors
    scaled: tuple[Scaled, ...] = (Scaled("parse", 240.0, 120), Scaled("report", 300.0, 120))
    # Storm does not time what another process does, and the sink is not what is scaled here
    single_ms: Mapping[str, float] = {SINK: 2.0}
    executors_beside = 3
    profiles: Mapping[ProfileName, ProfileDefaults] = {
        "steps": ProfileDefaults(720.0, 6.0),
        "levels": ProfileDefaults(720.0, 6.0),
        # an hour of the day passes in two and a half minutes: restarts take seconds there, too
        "taxi": ProfileDefaults(3600.0, 9.8),
    }
    most_items: int | None = None
    answers = False

    def lag(self, run: str) -> Mapping[str, object]:
        """Return what the loop asks Redis; see `Workload`."""
        keys = SleepingRun(run)
        return {"kind": "redis", "address": REDIS, "key": keys.waiting, "counter": keys.count}

    def submit(self, start: Start) -> Sequence[str]:
        """Return the arguments that submit it; see `Workload`."""
        arguments = ["-m", f"{_PACKAGE}.submit_sleeping", "--nimbus", NIMBUS, "--redis", REDIS]
        arguments += ["--run", start.run, "--name", self.name, "--graphite", str(start.graphite)]
        return [
            *arguments,
            *("--rate", f"{start.rate:g}", "--workers", WORKERS, "--storm", str(STORM_HOME)),
        ]

    def feed(self, feed: Feed) -> Sequence[str]:
        """Return the arguments that feed it; see `Workload`."""
        arguments = ["-m", f"{_PACKAGE}.feed_items", "--redis", REDIS, "--run", feed.run]
        return [*arguments, "--due", str(feed.due), "--out", str(feed.items)]

    def wrong(self, expected: Path, turns: Sequence[Path]) -> Sequence[str | None]:  # noqa: ARG002 - as others
        """Return that nothing is wrong: what is lost is counted for every workload."""
        return [None] * len(turns)
