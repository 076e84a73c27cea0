"""The counts of an agent at one moment."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from monitoring.agent.bandwidth.trains import TrainFigures

if TYPE_CHECKING:
    from collections.abc import Mapping

    from monitoring.zookeeper.session_figures import SessionFigures


@dataclass(frozen=True, slots=True)
class AgentFigures:
    """An agent's counts since its start, and how it stands.

    Attributes:
        sent: Own probes.
        returned: Own probes that were answered.
        lost: Own probes without an answer in time.
        answered: Probes of others that were answered.
        refusals: Datagrams that were refused, by reason.
        sent_bytes: Payload of all datagrams that were sent.
        error: Relative error that the host estimates of its coordinate, 0 to 1.5; 1.5 = nothing measured.
        peers: Hosts that are published, this one excluded.
        silent_peers: Those of them that leave probes without an answer.
        unreadable: Looks at readings that could not be read, by what they are of.
        session: See `SessionFigures`.
        trains: See `TrainFigures`.
    """

    sent: int
    returned: int
    lost: int
    answered: int
    refusals: Mapping[str, int]
    sent_bytes: int
    error: float
    peers: int
    silent_peers: int
    unreadable: Mapping[str, int]
    session: SessionFigures
    trains: TrainFigures = field(default_factory=TrainFigures)
