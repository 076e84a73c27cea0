"""The memory's file: whole or not there, and never read as something else."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from provisioning.loop.copy_of_cluster import CopiedHost, Copy
from provisioning.loop.memory import Draining, Memory, MemoryFile, MemoryFileError, Request, Wanted
from provisioning.measuring.component_readings import TopologyMemory
from provisioning.measuring.source_history import SourceSaid

if TYPE_CHECKING:
    from pathlib import Path


def test_what_is_written_is_read(tmp_path: Path) -> None:
    memory = Memory(
        "ab12",
        kind="sized",
        policy={"requests": 3},
        requests={"ab12.lease-1": Request("small", 1.0, {"words/bolt": 2})},
        wanted={"words": Wanted({"bolt": 3}, {"bolt": 2}, "words-1-1", 2.0, 1)},
        draining={"host-1": Draining("l-1", 9.0, 3.0)},
        topologies={
            "words-1-1": TopologyMemory(
                {"bolt": 8.0}, {"bolt": (1.0,)}, {"a:b>c": 0.5}, (SourceSaid(3.0, 4.0),)
            )
        },
        changed_s={"words": 5.0},
        changes={"words": (4.0, 5.0)},
        copy=Copy(1.0, 2.0, (CopiedHost("a", 4.0, 4.0, 3.0, 1.0, {"words/bolt": 1}),), {"words/bolt": 0.5}),
        real_host_s=7.0,
    )
    file = MemoryFile(tmp_path / "active.json")
    file.write(memory)
    assert file.read() == memory
    file.write(replace(memory, requests={}))
    assert not file.read().requests


def test_without_a_file_names_of_requests_are_new(tmp_path: Path) -> None:
    """So that a provider that remembers an earlier memory's requests gives other hosts."""
    first, second = (MemoryFile(tmp_path / "active.json").read() for _ in range(2))
    assert first.instance != second.instance


@pytest.mark.parametrize("content", ["", "{", "[]", '{"version": 2, "instance": "a"}', '{"instance": 7}'])
def test_another_file_is_refused_with_its_place(content: str, tmp_path: Path) -> None:
    path = tmp_path / "active.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(MemoryFileError, match=f"{path}: is no memory of an elastic loop: "):
        MemoryFile(path).read()


def test_a_folder_in_its_place_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MemoryFileError, match="cannot be read"):
        MemoryFile(tmp_path).read()
    with pytest.raises(MemoryFileError, match="cannot be written"):
        MemoryFile(tmp_path / "missing" / "active.json").write(Memory("a"))
