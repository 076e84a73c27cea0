"""Decides whether a lab is ready, may yet become so, or will not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.errors import LabError, NoLabError
from lab.logs import last_words

if TYPE_CHECKING:
    from lab.places import LabFolder
    from lab.status import LabStatus

_TOO_MANY_ENDS = 4


class ReadinessCheck:
    """Follows one lab through one start or change.

    Ends of services before the first look say nothing about this change: supervisors of a site that was
    isolated, for one, have ended.
    """

    def __init__(self, folder: LabFolder) -> None:
        self._folder = folder
        self._ends_before: dict[str, int] | None = None

    def is_ready(self, status: LabStatus) -> bool:
        """Look at the lab once more.

        Raises:
            NoLabError: It has ended.
            LabError: A part of it ends again and again.
        """
        if self._ends_before is None:
            self._ends_before = {one.name: one.unexpected_ends for one in status.services}
        if status.state == "ready":
            return True
        if status.state in ("absent", "stopping"):
            raise NoLabError(f"the lab has ended: {last_words(self._folder, 'keeper.log')}")
        for service in status.services:
            ends = service.unexpected_ends - self._ends_before.get(service.name, 0)
            if ends >= _TOO_MANY_ENDS or service.state == "failed":
                words = last_words(self._folder, f"{service.name}.out")
                raise LabError(f"{service.name} does not keep running ({service.last_end}): {words}")
        return False
