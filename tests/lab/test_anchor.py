from __future__ import annotations

import os
import signal
import subprocess
from typing import TYPE_CHECKING

import pytest

from lab.anchor import Anchor, is_locked, take_lock
from lab.places import LabFolder

if TYPE_CHECKING:
    from pathlib import Path


def test_the_lock_is_held_until_its_last_holder_has_gone(tmp_path: Path) -> None:
    """Looking never takes the lock; a child that inherited it keeps it; its end frees it."""
    folder = LabFolder(tmp_path)
    assert not is_locked(folder)
    lock = take_lock(folder)
    assert lock is not None
    assert is_locked(folder)
    assert is_locked(folder)
    assert take_lock(folder) is None
    with subprocess.Popen(["sleep", "60"], pass_fds=(lock,)) as child:
        os.close(lock)
        assert is_locked(folder)
        child.kill()
    assert not is_locked(folder)


def test_only_the_very_process_is_killed(tmp_path: Path) -> None:
    """A process that merely has the noted id is left alone; the noted process is killed."""
    folder = LabFolder(tmp_path)
    with subprocess.Popen(["sleep", "60"]) as child:
        anchor = Anchor.of(child.pid)
        Anchor(child.pid, anchor.started + "0").kill()
        assert child.poll() is None
        anchor.write(folder)
        read = Anchor.read(folder)
        assert read == anchor
        read.kill()
        assert child.wait() == -signal.SIGKILL
    anchor.kill()


@pytest.mark.parametrize("content", ["", "{", "[1]", '{"pid": 1}', '{"pid": 1, "started": "x", "more": 2}'])
def test_an_unreadable_state_file_names_no_process(tmp_path: Path, content: str) -> None:
    """What cannot be understood leads to no process."""
    folder = LabFolder(tmp_path)
    folder.state.write_text(content, encoding="utf-8")
    assert Anchor.read(folder) is None
