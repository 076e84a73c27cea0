"""What a provider of hosts has to do, whatever stands behind it (contract: tests/provisioning/providers).

A request has an identity that its caller keeps. The same request never leases twice, so that a caller that
was killed between asking and remembering asks again. A lease that is not given back goes on, unit by unit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence

LeaseStatus = Literal["booting", "ready", "draining", "gone", "failed"]
"""`draining`: goes at `release_at_s`; `gone`: was given back; `failed`: never came up, and is not billed."""


class ProviderError(Exception):
    """A provider cannot be reached, refuses, or says what makes no sense; the message is one sentence."""


class BusyHostError(ProviderError):
    """A host is not given back, since workers run there."""


class UnlistedHostError(ProviderError):
    """Nimbus answers, and does not list a host: whether workers run there cannot be found out."""


@dataclass(frozen=True)
class HostOffer:
    """A kind of host that can be leased.

    Attributes:
        name: Of the offer.
        cpu: In percent of one core, as Storm counts (> 0).
        memory_mb: MB (> 0).
        slots: Executors that are placed on a host at the most (>= 1).
        billing_unit_s: What has been started of one is paid whole, s (> 0).
        unit_cost: Of a billing unit, in any currency (>= 0).
        boot_s: Usual time from the request until a host is up, s (>= 0).
    """

    name: str
    cpu: float
    memory_mb: float
    slots: int
    billing_unit_s: float
    unit_cost: float
    boot_s: float


@dataclass(frozen=True)
class Lease:
    """A leased host.

    Attributes:
        lease_id: The provider's name for it.
        request_id: Identity of the request that it answers.
        offer: Name of what was asked for.
        status: How it stands.
        leased_at_s: When it was asked for, s since 1970.
        host: Name of the host as Storm knows it; empty: not known yet.
        ready_at_s: When it was up, s; None: not yet.
        paid_until_s: End of the billing units that have begun, s; None while nothing is billed.
        cost: Of these units.
        release_at_s: When it is given back, s; None: that was not asked for.
        reason: Why it failed or is gone; empty if nothing is to be said.
        trouble: What is tried again and again, such as to stop it; empty if nothing is.
    """

    lease_id: str
    request_id: str
    offer: str
    status: LeaseStatus
    leased_at_s: float
    host: str = ""
    ready_at_s: float | None = None
    paid_until_s: float | None = None
    cost: float = 0.0
    release_at_s: float | None = None
    reason: str = ""
    trouble: str = ""

    @property
    def live(self) -> bool:
        """Whether the host is there or will be."""
        return self.status in ("booting", "ready", "draining")


IsBusy: TypeAlias = Callable[[str], bool]
"""Returns whether workers run on a host.

It raises `UnlistedHostError` if Nimbus does not list the host, and `ProviderError` if it does not answer.
"""


class Provider(Protocol):
    """Leases hosts and takes them back. Times are seconds since 1970, and come from the caller.

    Every method raises `ProviderError` within a bounded time if it cannot do what it was asked for; the
    caller calls again later.
    """

    def offers(self) -> Sequence[HostOffer]:
        """Return what can be leased."""

    def lease(self, offer: str, request_id: str, now_s: float) -> Lease:
        """Ask for a host and return at once, without waiting until it is up.

        Args:
            offer: Name of one.
            request_id: The same one always has the same lease, also after that is gone.
            now_s: Present time.

        Raises:
            ProviderError: There is no such offer, or no host to be had.
        """

    def release(self, lease_id: str, not_before_s: float, now_s: float, *, force: bool = False) -> Lease:
        """Give a host back, at once or later; asked again, the earlier time counts.

        Args:
            lease_id: A lease. One that is gone stays gone.
            not_before_s: The first look (`leases`) at or after this time gives it back.
            now_s: Present time.
            force: Also if workers run there.

        Raises:
            BusyHostError: Workers run there. That is looked at now, and again when the time has come: then
                the lease stays, `ready` as before, and its `reason` says so.
            ProviderError: There is no such lease.
        """

    def leases(self, now_s: float) -> Sequence[Lease]:
        """Return all leases, those that are gone or failed too for a day, the oldest first.

        Also the moment at which what is due is done: hosts that are up become ready, releases happen.
        """
