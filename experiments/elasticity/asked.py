"""What a run is asked to be."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Asked:
    """What is run.

    Attributes:
        policy: Name of the policy.
        load: Name of the load.
        offer: Name of the kind of hosts.
        seed: Of load, disturbances and durations.
        parameters: Of the policy, beside those that the scenario gives.
    """

    policy: str
    load: str
    offer: str
    seed: int = 0
    parameters: Mapping[str, Any] = field(default_factory=dict)
