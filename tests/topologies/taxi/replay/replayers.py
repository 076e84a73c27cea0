"""Making a replayer of a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from topologies.taxi.replay.open_source import open_source
from topologies.taxi.replay.pace import Limits, Phase
from topologies.taxi.replay.replayer import Replayer
from topologies.taxi.replay.stream import RunStream

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from topologies.taxi.replay.pace import Pace

LIMITS = Limits(ahead=1_000_000)


def replayer(
    side: Any, path: Path, pace: Pace | None = None, limits: Limits = LIMITS, **more: Any
) -> Replayer:
    """A replayer of a file into the run of a side; `more` are further arguments of `Replayer`."""
    client = more.pop("client", None) or side.client()
    return Replayer(
        open_source(path),
        RunStream(client, side.run),
        [Phase(pace)],
        limits,
        fields={"speed": "1"},
        **more,
    )


def after(first: Callable[[], None], then: Callable[[], None]) -> Callable[[], None]:
    def both() -> None:
        first()
        then()

    return both
