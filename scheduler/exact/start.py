"""Where the exact solver starts from; who asks for a proof hands it in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from scheduler.contract.strategy import Suggestion

if TYPE_CHECKING:
    from scheduler.base.arrays import IntArray
    from scheduler.contract.strategy import Context


class Start(Protocol):
    """Finds placements for a proof: the better they are, the more of the search they cut."""

    def first(self, context: Context) -> Suggestion:
        """Return a placement to begin with; without one, perhaps a proof that there is none."""

    def longer(self, context: Context) -> None:
        """Look for better ones, as the quick proofs have failed; `Context.report` hears of each."""


class GivenStart:
    """A placement that is known; nothing better is looked for.

    Args:
        placement: (n_ops,) feasible, or None if none is known.
    """

    def __init__(self, placement: IntArray | None) -> None:
        self._placement = placement

    def first(self, _context: Context) -> Suggestion:
        """Return it."""
        return Suggestion(self._placement, "given")

    def longer(self, _context: Context) -> None:
        """Leave it as it is."""
