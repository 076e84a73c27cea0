"""One turn: the hosts of its start, the topology, the loop and the load; what the report needs is kept."""

from __future__ import annotations

import json
import random
import shutil
import sys
from collections import Counter
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from experiments.busy import BusyMeter, write_busy
from experiments.folder_content import DONE
from experiments.lab_command import run_on_host
from experiments.lab_elasticity.kept import (
    ITEMS,
    LEASES,
    LOOKS,
    LOOP_FOLDER,
    LOOP_LOG,
    ElasticityDone,
    read_leases,
)
from experiments.lab_elasticity.loop_process import LabProgram
from experiments.lab_elasticity.loop_settings import loop_settings
from experiments.lab_elasticity.workloads.workload import BEGINS, Feed, Start
from experiments.lab_steps import NIMBUS, PLACEMENT, StepError
from experiments.machine import provenance
from experiments.schedule import Schedule
from formats.address import Address
from lab.errors import LabError
from replay.output import write_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from experiments.lab_elasticity.lab_elasticity_settings import LabElasticitySettings
    from experiments.lab_elasticity.variants import VariantTurn
    from experiments.lab_elasticity.workloads.workload import Scaled
    from experiments.lab_steps import LabSteps
    from lab.cluster import LabClient

READY_S = 180.0
ZOOKEEPER = "nimbus:2181"
_GRAPHITE_PORT = 2003


@dataclass(frozen=True)
class Kill:
    """A moment at which the loop is killed.

    Attributes:
        at_s: Since the first item of the warm-up was due, s.
    """

    at_s: float


def kills(settings: LabElasticitySettings) -> tuple[Kill, ...]:
    """Return the moments, random and the same for one seed: none in the first and last tenth of the run."""
    chance = random.Random(settings.seed)  # noqa: S311 - no secret
    first, last = 0.1 * settings.run_s, 0.9 * settings.run_s
    return tuple(
        Kill(settings.warm_up_s + at_s)
        for at_s in sorted(chance.uniform(first, last) for _ in range(settings.kills))
    )


def run_elasticity_turn(
    steps: LabSteps, folder: Path, *, turn: VariantTurn, settings: LabElasticitySettings
) -> None:
    """Run one turn; its folder ends with `done.json` or without it.

    Args:
        steps: The steps of a lab that is up.
        folder: The turn's folder; what an earlier try has left there is removed.
        turn: Which one.
        settings: What holds for all turns.

    Raises:
        StepError: A step failed; neither topology nor loop runs any more.
        lab.errors.LabError: The lab does not do what it is asked to.
    """
    shutil.rmtree(folder, ignore_errors=True)
    (folder / LOOP_FOLDER).mkdir(parents=True)
    lab, name = steps.lab, settings.scaled.name
    _seat(steps, turn, settings, folder)
    ends_before = _unexpected_ends(lab)
    watch = _watch(lab, turn, settings, folder)
    loop = _loop(lab, turn, settings, folder)
    try:
        _submit(steps, turn, settings, folder)
        watch.start()
        loop.start()
        meter = BusyMeter()
        _feed(steps, turn, settings, folder, loop)
        busy = meter.fraction()
        loop.end()
        watch.end()
        (folder / PLACEMENT).write_text(steps.placement(name, folder), encoding="utf-8")
        leaked = _leaked(lab, settings, folder) if turn.elastic else ()
        steps.kill(name, folder)
    except (StepError, LabError):
        for each in (watch, loop):
            each.discard()
        steps.discard(name, folder)
        raise
    write_busy(folder, busy)
    done = ElasticityDone(
        policy=turn.policy,
        repetition=turn.repetition,
        workload=name,
        load=settings.load,
        run_s=settings.run_s,
        bound_s=settings.bound_s,
        billing_unit_s=settings.billing_unit_s,
        fixed_hosts=len(settings.fixed) if turn.elastic else settings.static_hosts,
        static_hosts=settings.static_hosts,
        kills_s=tuple(loop.killed_s),
        leaked=leaked,
        missing_tasks=missing_tasks((folder / PLACEMENT).read_text(encoding="utf-8"), settings.scaled.scaled),
        busy=busy,
        process_ends=dict(_unexpected_ends(lab) - ends_before),
        **asdict(provenance()),
    )
    write_json(folder / DONE, done.model_dump(mode="json"))


def missing_tasks(placement: str, scaled: Iterable[Scaled]) -> dict[str, int]:
    """Return the tasks that no executor has, by component, of what scales.

    Args:
        placement: Where executors run, as `taxi placement` prints it.
        scaled: What scales.
    """
    found: Counter[str] = Counter()
    for each in json.loads(placement)["executors"]:
        found[each["component"]] += each["last_task"] - each["first_task"] + 1
    return {each.name: each.tasks - found[each.name] for each in scaled if found[each.name] < each.tasks}


def _seat(steps: LabSteps, turn: VariantTurn, settings: LabElasticitySettings, folder: Path) -> None:
    """Let those hosts be there with which the turn starts; what an earlier one has drained is given back."""
    more = () if turn.elastic else settings.spare[: settings.static_hosts - len(settings.fixed)]
    steps.progress.step(f"lab: {len(settings.fixed) + len(more)} hosts")
    with suppress(StepError):
        steps.run("nimbus", "undrain", ["--all", "--zookeeper", ZOOKEEPER], folder / "undrain.log")
    absent = steps.lab.status().absent
    for host in settings.spare:
        if host in more and host in absent:
            steps.lab.join(host)
        elif host not in more and host not in absent:
            steps.lab.leave(host)
    steps.lab.await_ready(READY_S)


def _watch(lab: LabClient, turn: VariantTurn, settings: LabElasticitySettings, folder: Path) -> LabProgram:
    arguments = ["-m", "experiments.lab_elasticity.watching", "--nimbus", NIMBUS]
    arguments += ["--name", settings.scaled.name, "--lag", json.dumps(settings.scaled.lag(turn.label))]
    return LabProgram(lab, "nimbus", arguments, folder / LOOKS, folder / "watching.log")


def _loop(lab: LabClient, turn: VariantTurn, settings: LabElasticitySettings, folder: Path) -> LabProgram:
    file = folder / "elastic.toml"
    text = loop_settings(settings, turn, folder / LOOP_FOLDER, lab.folder.root)
    file.write_text(text, encoding="utf-8")
    arguments = ["-m", "cli.main", "elastic", "--config", str(file)]
    return LabProgram(lab, "nimbus", arguments, folder / "elastic.out", folder / LOOP_LOG)


def _submit(steps: LabSteps, turn: VariantTurn, settings: LabElasticitySettings, folder: Path) -> None:
    steps.progress.step(f"{turn.label}: submitting the topology {settings.scaled.name}")
    rate = settings.first_rate if turn.elastic else settings.peak_rate
    address = steps.lab.status().host("nimbus")
    if address is None:
        raise StepError("the lab has no host named nimbus")
    start = Start(
        run=turn.label,
        rate=rate,
        graphite=Address(str(address.address), _GRAPHITE_PORT),
        folder=folder,
    )
    _run(steps, "nimbus", settings.scaled.submit(start), folder / "submit.log")


def _feed(
    steps: LabSteps,
    turn: VariantTurn,
    settings: LabElasticitySettings,
    folder: Path,
    loop: LabProgram,
) -> None:
    steps.progress.step(f"{turn.label}: {settings.load}, {settings.warm_up_s + settings.run_s:g} s")
    due = folder / "due.json"
    due_s = [round(each, 6) for each in settings.due_s().tolist()]
    due.write_text(json.dumps(due_s), encoding="utf-8")

    def carry_out(_: Kill) -> None:
        loop.kill()
        loop.start()

    schedule = Schedule(kills(settings) if turn.elastic else (), carry_out)

    def take(line: str) -> None:
        if line.startswith(BEGINS):
            schedule.begin()

    feed = Feed(run=turn.label, due=due, items=folder / ITEMS, folder=folder)
    _run(steps, "redis", settings.scaled.feed(feed), folder / "feed.log", take=take, errands=schedule)


def _run(
    steps: LabSteps,
    host: str,
    arguments: Sequence[str],
    log: Path,
    *,
    take: Callable[[str], None] = lambda _: None,
    errands: Schedule[Kill] | None = None,
) -> None:
    """Run a program of this experiment on a host to its end.

    Raises:
        StepError: It ended with a non-zero status.
    """
    last = "no output"
    with log.open("w", encoding="utf-8") as file:

        def keep(line: str) -> None:
            nonlocal last
            file.write(line)
            last = line.strip() or last
            steps.progress.detail(line)
            take(line)

        status = run_on_host(steps.lab, host, [sys.executable, *arguments], keep, errands)
    if status != 0:
        raise StepError(f"`{' '.join(arguments[:4])}` on {host} ended with status {status}: {last}")


def _leaked(lab: LabClient, settings: LabElasticitySettings, folder: Path) -> tuple[str, ...]:
    """Return hosts that have joined though no lease that is open knows them."""
    known = {each.host for each in read_leases(folder / LEASES) if each.open}
    absent = lab.status().absent
    return tuple(host for host in settings.spare if host not in absent and host not in known)


def _unexpected_ends(lab: LabClient) -> Counter[str]:
    return Counter({service.name: service.unexpected_ends for service in lab.status().services})
