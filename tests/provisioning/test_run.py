"""Rounds as they are logged: what is in the way is said once, and again when it is over."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

from formats.log import Log
from formats.nimbus import NimbusError
from provisioning.loop.active import ActiveLoop
from provisioning.loop.record import RoundRecord
from provisioning.run import Rounds
from provisioning.saying import Saying
from provisioning.status import StatusFile
from tests.provisioning.loop.world import ROUND_S, World, loop_of, settings_of

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from provisioning.cluster.look import ClusterLook
    from provisioning.run import Watcher
    from provisioning.settings import ElasticSettings


ONE_CHANGE = {"reconfigurations_per_hour": 1}


class Followed:
    """Rounds of a loop on a world, and what they log."""

    def __init__(
        self,
        world: World,
        folder: Path,
        watcher: Watcher | None = None,
        settings: ElasticSettings | None = None,
    ) -> None:
        """Make the loop; nothing of it is kept elsewhere than in its folder."""
        self.world = world
        self.silent = self.broken = False
        self.set_by_s = 0.0
        self._text = io.StringIO()
        self._rounds = Rounds(
            self._look,
            world,
            {"active": loop_of(world, folder, settings)},
            RoundRecord(folder / "rounds.jsonl"),
            StatusFile(folder / "status.json"),
            "sized",
            Saying(Log(stream=self._text), 120.0),
            watcher,
            lambda: world.now_s + self.set_by_s,
            lambda: world.now_s,
        )

    def _look(self) -> ClusterLook:
        if self.silent:
            raise NimbusError("Nimbus h:1 cannot be reached: refused")
        if self.broken:
            raise RuntimeError("a fault of ours")
        return self.world.look()

    def lines(self, rounds: int) -> list[dict[str, Any]]:
        """Return what some rounds log."""
        self._text.seek(0)
        self._text.truncate()
        for _ in range(rounds):
            self._rounds.round()
            self.world.now_s += ROUND_S
        return [json.loads(line) for line in self._text.getvalue().splitlines()]


def test_a_silent_nimbus_is_named_once(tmp_path: Path) -> None:
    followed = Followed(World(), tmp_path)
    followed.lines(5)
    followed.silent = True
    (line,) = followed.lines(4)
    assert (line["event"], line["level"]) == ("nimbus-silent", "warning")
    followed.silent = False
    assert [each["event"] for each in followed.lines(3)] == ["nimbus-silent-no-more"]


def test_steps_are_logged_as_they_are_taken(tmp_path: Path) -> None:
    events = [each["event"] for each in Followed(World(demand_per_s=45.0), tmp_path).lines(14)]
    for event in ("decided", "host-asked", "host-up", "rebalanced", "changed"):
        assert event in events
    assert events.index("decided") < events.index("host-asked") < events.index("host-up")


def test_workers_that_fall_silent_are_named_once(tmp_path: Path) -> None:
    followed = Followed(World(), tmp_path)
    followed.lines(6)
    followed.world.spoken = False
    lines = [each for each in followed.lines(10) if each["event"] == "missing"]
    assert len(lines) == 1
    assert "its workers have reported nothing" in lines[0]["why"][0]


def test_what_is_wanted_beyond_a_bound_is_named_once(tmp_path: Path) -> None:
    """Four tasks are no more than four executors, whatever comes."""
    world = World(demand_per_s=45.0)
    world.tasks = 4
    lines = Followed(world, tmp_path).lines(40)
    (line,) = (each for each in lines if each["event"] == "wants-more")
    assert line["why"][0].endswith("6 executors are needed, it may have 4")
    assert not [each for each in lines if each["event"] == "wants-more-no-more"]


def test_a_memory_that_cannot_be_read_stops_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "active.json").write_text("{", encoding="utf-8")
    (line,) = Followed(World(), tmp_path).lines(3)
    assert line["event"] == "nothing-remembered"
    assert str(tmp_path / "active.json") in line["why"]


def test_a_clock_that_is_set_is_named_and_what_was_counted_before_dropped(tmp_path: Path) -> None:
    """Else a rate would be of a time that has not passed."""
    followed = Followed(World(), tmp_path)
    followed.lines(6)
    followed.set_by_s = -3600.0
    (line, *_) = followed.lines(3)
    assert (line["event"], line["by_s"]) == ("clock-jumped", -3600.0)
    assert followed.world.dropped == 1


def test_a_fault_of_a_round_ends_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    followed = Followed(World(), tmp_path)
    followed.lines(6)
    with monkeypatch.context() as broken:
        broken.setattr(ActiveLoop, "round", lambda *_: 1 / 0)
        (line,) = followed.lines(5)
    assert line["event"] == "round-failed"
    assert "ZeroDivisionError" in line["exception"]
    assert [each["event"] for each in followed.lines(3)] == ["round-failed-no-more"]


def test_a_fault_of_the_look_ends_nothing(tmp_path: Path) -> None:
    followed = Followed(World(), tmp_path)
    followed.lines(6)
    followed.broken = True
    (line,) = followed.lines(5)
    assert (line["event"], line["mode"]) == ("round-failed", "all")
    assert "a fault of ours" in line["exception"]
    followed.broken = False
    assert [each["event"] for each in followed.lines(3)] == ["round-failed-no-more"]


def named(lines: list[dict[str, Any]], event: str) -> list[Any]:
    """Return the reasons of the lines of an event."""
    return [each["why"] for each in lines if each["event"] == event]


def test_a_limit_is_named_once_although_it_is_looked_at_once_a_minute(tmp_path: Path) -> None:
    followed = Followed(World(demand_per_s=20.0), tmp_path, settings=settings_of(limits=ONE_CHANGE))
    followed.lines(6)
    followed.world.demand_per_s = 45.0
    lines = followed.lines(40)
    (why,) = named(lines, "limited")
    assert "may be changed 1 times an hour, and was" in why[0]
    assert not named(lines, "limited-no-more")
    followed.world.demand_per_s = 20.0
    assert named(followed.lines(20), "limited-no-more") == [why]


def test_what_is_missing_is_not_over_while_the_provider_is_silent(tmp_path: Path) -> None:
    """Nothing is looked at then."""
    followed = Followed(World(), tmp_path)
    followed.lines(6)
    followed.world.spoken = False
    assert len(named(followed.lines(10), "missing")) == 1
    followed.world.silent = True
    assert [each["event"] for each in followed.lines(20)] == ["held"], "nothing is looked at then"
    followed.world.silent = False
    lines = followed.lines(10)
    assert not named(lines, "missing")
    assert not named(lines, "missing-no-more")


def test_a_call_that_fails_is_named_once_and_when_it_is_over(tmp_path: Path) -> None:
    followed = Followed(World(demand_per_s=45.0, refuse=True), tmp_path)
    ((why,),) = named(followed.lines(20), "failed")
    assert why.endswith("there are no hosts left")
    followed.world.refuse = False
    ((over,),) = named(followed.lines(20), "failed-no-more")
    assert over == why
