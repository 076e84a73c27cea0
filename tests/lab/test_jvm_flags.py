from __future__ import annotations

from typing import TYPE_CHECKING

from lab import jvm_flags

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_archived_classes_are_used_where_there_are_some(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Without an archive for these libraries there is no word of one."""
    monkeypatch.setattr(jvm_flags, "STORM_HOME", tmp_path)
    plain = jvm_flags.jvm_flags("lib")
    archive = tmp_path / "lib.jsa"
    archive.touch()
    assert jvm_flags.jvm_flags("lib") == (*plain, f"-XX:SharedArchiveFile={archive}")
    assert jvm_flags.jvm_flags("lib-worker") == plain
