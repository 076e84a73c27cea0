"""Which of the lab's processes ended by themselves during a turn: one that did is part of the story."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lab.cluster import LabClient


class ProcessEnds:
    """Counts from its making on.

    Args:
        lab: The lab, up.
    """

    def __init__(self, lab: LabClient) -> None:
        self._lab = lab
        self._before = _ends(lab)

    def by_process(self) -> dict[str, int]:
        """Return how often each process ended unexpectedly; those that never did are left out."""
        since = {name: count - self._before.get(name, 0) for name, count in _ends(self._lab).items()}
        return {name: count for name, count in since.items() if count}


def _ends(lab: LabClient) -> dict[str, int]:
    return {service.name: service.unexpected_ends for service in lab.status().services}
