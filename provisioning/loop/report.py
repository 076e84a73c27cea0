"""What came of a round: what was seen, decided and done, and why not."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from provisioning.loop.step import Step
    from provisioning.providers.provider import Lease
    from scheduler.elasticity.leasing.decision import LeasingDecision
    from scheduler.elasticity.leasing.observation import Observation
    from scheduler.elasticity.leasing.parameters import LeasingParameters

HeldBy = Literal["provider", "change", "no_slot", "unlisted_host", "no_topology", "unreadable", "refused"]
"""Kinds of reasons why nothing is decided; "refused": by the checks of what a policy is asked."""


@dataclass(frozen=True)
class Savings:
    """What an advice would have saved so far.

    Attributes:
        since_s: From when on, s since 1970.
        real_host_s: Hosts of the cluster times seconds.
        host_s: The same under the advice.
        real_cost: What the cluster's hosts cost in that time, in the currency of the offer.
        cost: What the advice would have cost, all units that were begun.
        changes: Rounds in which executors would have changed.
        late_share: Share of items that would have come while more waited than fits their stated time; of
            components of which it was known what came, and how long an item takes.
        unknown_s: Time in which that was not known of every component, s.
    """

    since_s: float
    real_host_s: float
    host_s: float
    real_cost: float
    cost: float
    changes: int
    late_share: float
    unknown_s: float = 0.0

    def figures(self) -> dict[str, float]:
        """Return them as a log has them."""
        return {name: round(value, 4) for name, value in asdict(self).items()}


@dataclass(frozen=True)
class Asked:
    """What a policy was asked.

    Attributes:
        observation: What it saw.
        parameters: Of it.
        state: What it remembered, as JSON has it; None: nothing.
        left_out: Topologies of which it was asked without their readings, as they may not change now.
    """

    observation: Observation
    parameters: LeasingParameters
    state: Any
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True)
class Report:
    """A round.

    Attributes:
        now_s: When it was, s since 1970.
        held: Why nothing was decided; empty if a policy was asked.
        held_by: Its kind; None likewise.
        faults: What is missing or wrong, one sentence each.
        steps: What was done.
        asked: What the policy was asked; None if it was not.
        decision: What it decided; likewise.
        limited: Which limit keeps topologies from changing; empty if none does.
        in_vain: Whether nothing of the decision is done for that.
        unhelpful: Components of which the wanted number of executors does no more than they have.
        savings: Of an advice.
        running: Executors that have a slot, by `topology/component`.
        leases: That the provider has; None: it is not known.
    """

    now_s: float
    held: str = ""
    held_by: HeldBy | None = None
    faults: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()
    asked: Asked | None = None
    decision: LeasingDecision | None = None
    limited: str = ""
    in_vain: bool = False
    unhelpful: tuple[str, ...] = ()
    savings: Savings | None = None
    running: Mapping[str, int] = field(default_factory=dict)
    leases: tuple[Lease, ...] | None = None
