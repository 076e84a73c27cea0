"""A lease as its provider remembers it: what a `Lease` says, and how far its start and its end have come."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import ConfigDict, Field

if TYPE_CHECKING:
    from provisioning.providers.provider import LeaseStatus

Step = Literal["waiting", "starting", "booting", "ready", "stopping", "ended"]
"""`waiting`: no start was tried; `starting`: it is unknown whether one came through; `stopping`: a stop is
tried until it comes through."""


@dataclass(frozen=True)
class Entry:
    """A lease. Each step is kept before it is done, so that after a kill it is done again.

    Attributes:
        number: Of the lease; none is used again.
        request: Identity of the request.
        offer: Name of the offer.
        billing_unit_s: Of the offer when the lease began, s.
        unit_cost: The same.
        boot_s: The same, s.
        leased_at_s: When it was asked for, s since 1970.
        step: How far it is.
        host: Name of the host; empty: not known yet.
        instance: What a start command printed, such as a cloud's name for the host.
        ready_at_s: When the host was up, s.
        release_at_s: From when on it is given back, s; None: it stays.
        force: Whether it is given back though workers run there.
        failed: Whether the host never came up.
        ended_at_s: When it was gone, s.
        reason: Why it failed, is gone, or was not given back.
        trouble: What the last attempt to go on ran into; empty once one comes through.
    """

    __pydantic_config__ = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    number: int
    request: str
    offer: str
    billing_unit_s: Annotated[float, Field(gt=0)]
    unit_cost: Annotated[float, Field(ge=0)]
    boot_s: float
    leased_at_s: float
    step: Step
    host: str = ""
    instance: str = ""
    ready_at_s: float | None = None
    release_at_s: float | None = None
    force: bool = False
    failed: bool = False
    ended_at_s: float | None = None
    reason: str = ""
    trouble: str = ""

    @property
    def lease_id(self) -> str:
        """Its name."""
        return f"lease-{self.number}"

    @property
    def status(self) -> LeaseStatus:
        """How it stands, in the words of `Lease`."""
        if self.failed:
            return "failed"
        if self.step == "ended":
            return "gone"
        if self.step == "stopping" or self.release_at_s is not None:
            return "draining"
        return "ready" if self.step == "ready" else "booting"

    @property
    def open(self) -> bool:
        """Whether something is left to be done about it."""
        return self.step != "ended"
