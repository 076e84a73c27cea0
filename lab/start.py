"""Starts a lab's anchor, the process that all others hang on."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

from lab.checks import SEARCH_PATH, namespace_options

if TYPE_CHECKING:
    from lab.commands import Programs
    from lab.places import LabFolder
    from lab.storm_config import SchedulerName


def start_anchor(
    folder: LabFolder, programs: Programs, scheduler: SchedulerName, starter: int, lock: int
) -> subprocess.Popen[bytes]:
    """Start the anchor in namespaces of its own.

    Args:
        folder: The lab's state folder; its logs' folder is there.
        programs: What the lab runs.
        scheduler: Scheduler that Nimbus uses.
        starter: Descriptor whose end shows the lab that its starter is gone.
        lock: Descriptor of the folder's lock.
    """
    keeper = [sys.executable, "-m", "lab.keeper", "--folder", str(folder.root)]
    keeper += ["--scheduler", scheduler, "--java", programs.java, "--redis-server", programs.redis_server]
    keeper += ["--storm-home", str(programs.storm_home), "--starter", str(starter), "--lock", str(lock)]
    with (folder.logs / "keeper.log").open("ab") as log:
        return subprocess.Popen(
            ["unshare", *namespace_options(), "--", *keeper],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env={**os.environ, "PATH": SEARCH_PATH, "PYTHONUNBUFFERED": "1"},
            pass_fds=(starter, lock),
            start_new_session=True,
        )
