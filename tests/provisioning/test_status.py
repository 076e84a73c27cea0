"""The status: what an operator reads of the last round."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from provisioning.status import StatusError, StatusFile, sentences
from tests.provisioning.loop.world import ROUND_S, World, loop_of

if TYPE_CHECKING:
    from pathlib import Path


def lines(world: World, folder: Path, rounds: int) -> list[str]:
    file = StatusFile(folder / "status.json")
    loop = loop_of(world, folder)
    for _ in range(rounds):
        file.write("active", loop.round(world.look(), world.now_s))
        world.now_s += ROUND_S
    return list(sentences(file.read(), world.now_s))


def test_hosts_executors_and_demand(tmp_path: Path) -> None:
    assert lines(World(demand_per_s=20.0), tmp_path, 8)[:3] == [
        "active, 15 s ago",
        "  hosts: 1 ready",
        "  words/bolt: 3 executors of at most 24, 20 items/s come, each takes 100 ms, 0 wait",
    ]


def test_what_is_in_the_way_is_first_and_what_is_known_stays(tmp_path: Path) -> None:
    world = World(demand_per_s=20.0)
    lines(world, tmp_path, 8)
    world.status = "INACTIVE"
    found = lines(world, tmp_path, 1)
    assert found[1] == "  held: none of its topologies is active on the cluster"


def test_without_readings_it_says_so(tmp_path: Path) -> None:
    found = lines(World(spoken=False), tmp_path, 2)
    assert any(each.startswith("  missing: words: its workers have reported nothing") for each in found)
    assert "  words/bolt: 2 executors of at most 24, no reading" in found


def test_an_old_status_says_so(tmp_path: Path) -> None:
    world = World()
    lines(world, tmp_path, 1)
    file = StatusFile(tmp_path / "status.json")
    first, *_ = sentences(file.read(), world.now_s + 3600.0)
    assert first == "active, 3615 s ago: there was no round since"


def test_what_hosts_cost_by_the_last_choice(tmp_path: Path) -> None:
    """Hosts were leased for a load that is over; one of them goes at the end of its paid time."""
    world = World(demand_per_s=45.0)
    lines(world, tmp_path, 20)
    world.demand_per_s = 5.0
    found = [each for each in lines(world, tmp_path, 40) if each.startswith("  when paid time ended last")]
    assert len(found) == 1
    assert "at least by any choice" in found[0]


def test_no_status_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(StatusError, match="no loop with these settings has run"):
        StatusFile(tmp_path / "status.json").read()
    (tmp_path / "status.json").write_text("{", encoding="utf-8")
    with pytest.raises(StatusError, match="cannot be read"):
        StatusFile(tmp_path / "status.json").read()
