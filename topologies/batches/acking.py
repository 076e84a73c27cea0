"""Whether Storm's acking guards the batches of a topology."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

REPLAY_KEY = "taxi.replay"
"""Topology configuration: whether Storm's acking guards the batches, true or false (default)."""


def is_replayed(conf: Mapping[str, object]) -> bool:
    """Return whether a topology's configuration asks for acking.

    Raises:
        ValueError: The value is neither true nor false.
    """
    value = conf.get(REPLAY_KEY, False)
    if not isinstance(value, bool):
        msg = f"topology configuration: {REPLAY_KEY} is {value!r}, it must be true or false"
        raise ValueError(msg)  # noqa: TRY004 - one kind of error for bad configuration
    return value
