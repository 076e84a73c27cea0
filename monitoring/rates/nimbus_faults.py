"""What can be wrong with Nimbus' reply about one topology, while Nimbus itself answers."""

from __future__ import annotations

from enum import StrEnum


class ReplyFault(StrEnum):
    """Why a reply about a topology is of no use."""

    REFUSED = "refused"
    """Nimbus does not let this client ask about the topology."""
    FAILED = "failed"
    """Nimbus stumbled over the question."""
    INCOMPLETE = "incomplete"
    """A field is not there that must be."""


class ReplyError(Exception):
    """A reply about one topology is of no use; replies about others may be.

    Args:
        kind: In which way.
        reason: One sentence.
    """

    def __init__(self, kind: ReplyFault, reason: str) -> None:
        super().__init__(reason)
        self.kind = kind


def lacking(field: str) -> ReplyError:
    """Return the error of a reply that lacks a field that it must have."""
    return ReplyError(ReplyFault.INCOMPLETE, f"the reply lacks {field}")
