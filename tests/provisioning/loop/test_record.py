"""Recorded rounds are decided again to the same outcome."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import pytest

from provisioning.loop.record import RoundRecord, asked_again
from tests.provisioning.loop.layered import QueueingWorld, layered
from tests.provisioning.loop.world import ROUND_S, World, loop_of, settings_of

if TYPE_CHECKING:
    from pathlib import Path

PARAMETERS: dict[str, dict[str, object]] = {
    "sized": {"keep_peak_s": 60.0},
    "btu": {"cooldown_s": 30.0},
    "threshold": {},
}


@pytest.mark.parametrize("kind", PARAMETERS)
def test_each_round_is_decided_again_to_the_same(kind: str, tmp_path: Path) -> None:
    """Under a load that goes up and down."""
    settings = settings_of(policy={"kind": kind, "parameters": PARAMETERS[kind]})
    world, record = World(), RoundRecord(tmp_path / "rounds.jsonl")
    loop = loop_of(world, tmp_path, settings)
    for n in range(60):
        world.demand_per_s = 45.0 if n // 20 % 2 else 10.0
        record.write("active", kind, loop.round(world.look(), world.now_s))
        world.now_s += ROUND_S
    record.close()
    lines = (tmp_path / "rounds.jsonl").read_text(encoding="utf-8").splitlines()
    pairs = [asked_again(line) for line in lines]
    assert len(pairs) > 40
    assert all(before == again for before, again in pairs)
    if kind == "sized":
        assert any(before.starts for before, _ in pairs)


@pytest.mark.parametrize(
    ("operators", "hosts"),
    [("model-based", "model-based"), ("rolling", "idle-pool"), ("threshold", "model-based")],
)
def test_rounds_of_managers_are_decided_again_to_the_same(operators: str, hosts: str, tmp_path: Path) -> None:
    """With all that they had learned by then."""
    world, record = QueueingWorld(), RoundRecord(tmp_path / "rounds.jsonl")
    loop = loop_of(world, tmp_path, layered(operators, hosts))
    for n in range(120):
        world.demand_per_s = 45.0 if n // 40 % 2 else 8.0
        record.write("active", "layers", loop.round(world.look(), world.now_s))
        world.now_s += ROUND_S
    record.close()
    lines = (tmp_path / "rounds.jsonl").read_text(encoding="utf-8").splitlines()
    pairs = [asked_again(line) for line in lines]
    assert len(pairs) > 80
    assert all(before == again for before, again in pairs)
    assert any(before.starts for before, _ in pairs)


def test_another_version_is_refused() -> None:
    with pytest.raises(ValueError, match="version: expected 2, got 3"):
        asked_again('{"version": 3}')


def test_full_files_are_compressed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("provisioning.loop.record._BYTES", 4000)
    world, record = World(), RoundRecord(tmp_path / "rounds.jsonl")
    loop = loop_of(world, tmp_path)
    for _ in range(10):
        record.write("active", "sized", loop.round(world.look(), world.now_s))
        world.now_s += ROUND_S
    record.close()
    lines = gzip.decompress((tmp_path / "rounds.jsonl.1.gz").read_bytes()).decode().splitlines()
    assert lines
    assert all(before == again for before, again in map(asked_again, lines))
