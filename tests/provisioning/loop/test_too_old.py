"""Tasks that fall silent: what they said last stays known, and is not decided on for ever."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from provisioning.loop.active import ActiveLoop
from provisioning.loop.advice import AdvisingLoop
from provisioning.loop.memory import MemoryFile
from provisioning.loop.pool import Pool
from provisioning.loop.seeing import Seeing
from provisioning.loop.too_old import too_old
from provisioning.measuring.graphite import MetricLine
from provisioning.measuring.task_meters import TaskMeters
from scheduler.elasticity.leasing.observation import ComponentReading
from tests.provisioning.loop.world import OFFER, ROUND_S, TOPOLOGY, TOPOLOGY_ID, World, settings_of

if TYPE_CHECKING:
    from pathlib import Path

    from provisioning.loop.report import Report

HELD = "words: tasks have reported nothing for over 120 s; held are bolt"


@dataclass
class Reported:
    """A world whose workers report to the meters of the loop, as Storm's reporters do."""

    world: World
    loop: ActiveLoop | AdvisingLoop
    meters: TaskMeters
    done: float = 0.0

    @classmethod
    def of(cls, folder: Path, mode: str = "active") -> Reported:
        world = World()
        meters = TaskMeters(lambda: world.now_s)
        settings = settings_of(topology={TOPOLOGY: {"mode": mode, "pause_s": 0.1}})
        pool, seeing = Pool(settings, OFFER, (TOPOLOGY,)), Seeing(settings, meters, {})
        file = MemoryFile(folder / f"{mode}.json")
        meters.follow({TOPOLOGY_ID})
        advising = AdvisingLoop(pool, seeing, file)
        loop = advising if mode == "advise" else ActiveLoop(pool, world, world, world, seeing, file)
        return cls(world, loop, meters)

    def rounds(self, count: int, *, speaking: bool = True) -> list[Report]:
        found = []
        for _ in range(count):
            if speaking:
                self._report()
            found.append(self.loop.round(self.world.look(), self.world.now_s))
            self.world.now_s += ROUND_S
        return found

    def _report(self) -> None:
        self.done += self.world.demand_per_s * ROUND_S
        bolts = [each for each in self.world.executors() if each.component == "bolt"]
        self._say(1, "receive-queue-population", 0.0)
        self._say(1, "__emit-count-default.count", self.done)
        for each in bolts:
            self._say(each.first_task, "receive-queue-population", 0.0)
            self._say(each.first_task, "__execute-count-spout:default.count", self.done / len(bolts))
            self._say(each.first_task, "__execute-latency-spout:default", self.world.service_ms)

    def _say(self, task: int, metric: str, value: float) -> None:
        self.meters.take(MetricLine(TOPOLOGY_ID, task, metric, value))


def test_what_fell_silent_is_held_and_named(tmp_path: Path) -> None:
    reported = Reported.of(tmp_path)
    assert reported.rounds(10)[-1].faults == ()
    silent = reported.rounds(12, speaking=False)
    # 15 s after the last word comes the first of these
    assert [HELD in each.faults for each in silent] == [False] * 8 + [True] * 4
    decision = silent[-1].decision
    assert decision is not None
    assert "held" in {each.verdict for each in decision.reasons if each.about == "words/bolt"}
    assert reported.rounds(2)[-1].faults == (), "and no longer once it speaks again"


def test_it_is_named_while_another_topology_changes_too(tmp_path: Path) -> None:
    """Else a line would say that it speaks again."""
    reported = Reported.of(tmp_path)
    reported.rounds(10)
    silent = reported.rounds(12, speaking=False)[-1]
    reported.world.unlisted = {"own-1"}
    held = reported.rounds(1, speaking=False)[-1]
    assert held.held
    assert HELD in silent.faults
    assert HELD in held.faults


def test_what_spoke_only_once_since_a_change_is_named(tmp_path: Path) -> None:
    """One counter that was seen once is no rate, and nothing is read of its component."""
    reported = Reported.of(tmp_path)
    reported.rounds(6)
    assert reported.world.counts["bolt"] == 3
    last = reported.rounds(6, speaking=False)[-1]
    assert last.faults == ("words: nothing is known of bolt[10], bolt[18], bolt[2], spout[1]",)


def test_advice_is_of_the_time_in_which_was_known_what_came(tmp_path: Path) -> None:
    reported = Reported.of(tmp_path, "advise")
    before = reported.rounds(10)[-1].savings
    *_, last = reported.rounds(20, speaking=False)
    assert before is not None
    assert last.savings is not None
    assert HELD in last.faults
    # while the last word was young enough it counted on
    assert last.savings.unknown_s - before.unknown_s == 12 * ROUND_S
    assert last.savings.real_host_s > before.real_host_s, "hosts are paid all the same"


def test_many_are_named_in_part() -> None:
    silent = tuple(ComponentReading(f"words/{n}", (), 0.0, age_s=121.0) for n in range(7))
    (line,) = too_old((*silent, ComponentReading("words/new", (), 0.0, age_s=119.0)), {})
    assert line == "words: tasks have reported nothing for over 120 s; held are 0, 1, 2, 3, 4 and 2 more"
