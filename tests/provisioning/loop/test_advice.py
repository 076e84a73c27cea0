"""Advice: the same decisions on a copy of the cluster, and what they would have saved."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pytest

from provisioning.loop.advice import AdvisingLoop
from provisioning.loop.hosts_seen import hosts_seen
from provisioning.loop.memory import Memory, MemoryFile
from provisioning.loop.pauses import expected_s
from provisioning.loop.pool import Pool
from provisioning.loop.seeing import Seeing
from tests.provisioning.loop.world import OFFER, ROUND_S, TOPOLOGY, World, settings_of

if TYPE_CHECKING:
    from pathlib import Path

    from provisioning.loop.report import Report


@dataclass
class Advised:
    """A world with advice; nothing may be done to it."""

    folder: Path
    pause_s: float | None = None
    world: World = field(default_factory=lambda: World(own_hosts=("own-1", "own-2", "own-3")))

    def pass_rounds(self, rounds: int) -> list[Report]:
        reports = []
        for _ in range(rounds):
            own = {} if self.pause_s is None else {"pause_s": self.pause_s}
            settings = settings_of(limits={"hosts_min": 1}, topology={TOPOLOGY: own})
            # as after each start of the process
            seeing = Seeing(settings, self.world, {})
            file = MemoryFile(self.folder / "advice.json")
            loop = AdvisingLoop(Pool(settings, OFFER, (TOPOLOGY,)), seeing, file)
            reports.append(loop.round(self.world.look(), self.world.now_s))
            self.world.now_s += ROUND_S
        assert not self.world.calls
        assert not self.world.given
        return reports


def test_hosts_that_are_not_needed_would_go(tmp_path: Path) -> None:
    """Of three hosts one does for five items a second: after an hour the advice has saved most of two."""
    advised = Advised(tmp_path)
    advised.world.demand_per_s = 5.0
    savings = advised.pass_rounds(241)[-1].savings
    assert savings is not None
    assert savings.real_host_s == 3 * 240 * ROUND_S
    assert savings.real_cost == 3 * 7.0, "six units have passed, and the seventh has begun"
    # three units at the beginning, then one after the other
    assert savings.cost <= 3.0 + 6.0
    pause_s = expected_s(Memory("one"), "words", 3, None)
    assert savings.late_share == pytest.approx(pause_s / ROUND_S / 240.0), "what came while they stood still"


def test_more_load_would_bring_hosts_once_they_have_booted(tmp_path: Path) -> None:
    """What comes meanwhile waits in the copy, too."""
    advised = Advised(tmp_path, 0.1, World(own_hosts=("own-1",)))
    advised.pass_rounds(5)
    advised.world.demand_per_s = 60.0
    reports = advised.pass_rounds(20)
    assert any(each.decision is not None and each.decision.leases for each in reports)
    first = next(
        each for each in reports if each.asked is not None and each.asked.observation.readings[0].waiting
    )
    assert first.asked is not None
    last = reports[-1]
    assert last.asked is not None
    assert last.asked.observation.readings[0].waiting == 0.0
    assert last.savings is not None
    assert 0.0 < last.savings.late_share < 0.5
    assert len(last.asked.observation.hosts) > 1


def test_a_long_break_begins_anew(tmp_path: Path) -> None:
    """What the load was meanwhile is not known."""
    advised = Advised(tmp_path)
    advised.pass_rounds(10)
    advised.world.now_s += 3600.0
    savings = advised.pass_rounds(1)[-1].savings
    assert savings is not None
    assert savings.since_s == advised.world.now_s - ROUND_S
    assert savings.real_host_s == 0.0


def test_a_change_by_hand_is_waited_for(tmp_path: Path) -> None:
    """And what was saved so far stays."""
    advised = Advised(tmp_path)
    before = advised.pass_rounds(10)[-1].savings
    advised.world.status = "REBALANCING"
    (held,) = advised.pass_rounds(1)
    assert (held.held, held.held_by) == (f"a change is under way: {TOPOLOGY}", "change")
    advised.world.status = "ACTIVE"
    after = advised.pass_rounds(1)[-1].savings
    assert before is not None
    assert after is not None
    assert (after.since_s, after.real_host_s) == (before.since_s, before.real_host_s + 3 * 2 * ROUND_S)


def test_what_has_ended_leaves_the_copy_and_the_others_stay(tmp_path: Path) -> None:
    """One of thirty topologies is started anew each day: advice on the others grows old all the same."""
    advised = Advised(tmp_path)
    advised.pass_rounds(3)
    file = MemoryFile(tmp_path / "advice.json")
    memory = file.read()
    assert memory.copy is not None
    first, *others = memory.copy.hosts
    ended = replace(first, executors={**first.executors, "gone/bolt": 2})
    copy = replace(memory.copy, hosts=(ended, *others), backlog={"gone/bolt": 9.0})
    file.write(replace(memory, copy=copy))
    savings = advised.pass_rounds(1)[-1].savings
    after = file.read().copy
    assert after is not None
    assert after.components() == {"words/bolt"}
    assert after.backlog.keys() == {"words/bolt"}
    assert savings is not None
    assert savings.since_s == memory.copy.began_s


def test_what_was_started_since_begins_in_the_copy_as_it_is(tmp_path: Path) -> None:
    """Not from nothing, which would be late until it has grown; on hosts that the copy has not, it pays."""
    advised = Advised(tmp_path)
    advised.pass_rounds(3)
    memory = MemoryFile(tmp_path / "advice.json").read()
    assert memory.copy is not None
    pool = Pool(settings_of(), OFFER, (TOPOLOGY,))
    real = hosts_seen(pool, advised.world.look(), (), Memory("one"), advised.world.now_s)
    offer = pool.policy_offer(advised.world.look())
    first, *others = memory.copy.hosts
    empty = replace(memory.copy, hosts=(replace(first, executors={"words/other": 1}, goes_s=9e9),))
    joined = empty.joined_by({"words/bolt"}, real, offer)
    assert joined.executors()["words/bolt"] == sum(each.executors.get("words/bolt", 0) for each in real)
    assert joined.units == empty.units + len(joined.hosts) - 1
    assert len(joined.hosts) in range(2, len(others) + 2)
    assert all(each.goes_s is None for each in joined.hosts if "words/bolt" in each.executors)
    assert empty.joined_by((), real, offer) == empty
