"""A lab for tests."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from lab.cluster import LabClient

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from lab.storm_config import SchedulerName


@contextmanager
def running_lab(folder: Path, sites: str, scheduler: SchedulerName) -> Iterator[LabClient]:
    """Bring a lab up and take it down; it also ends with the process of the tests if that is killed.

    Args:
        folder: Where `sites.toml` and the lab's own folder `lab` come to lie.
        sites: Text of the site file.
        scheduler: Scheduler that Nimbus uses.
    """
    file = folder / "sites.toml"
    file.write_text(sites, encoding="utf-8")
    lab = LabClient(folder / "lab")
    lab.up(file, scheduler, tied=True)
    try:
        yield lab
    finally:
        lab.down()
