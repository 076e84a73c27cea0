"""The provider of a cluster whose hosts are what they are: nothing can be leased, nothing is given back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from provisioning.providers.provider import ProviderError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from provisioning.providers.provider import HostOffer, Lease


class NoProvider:
    """Leases nothing; see `Provider`."""

    def offers(self) -> Sequence[HostOffer]:
        """Return nothing."""
        return ()

    def lease(self, offer: str, request_id: str, now_s: float) -> Lease:
        """Refuse."""
        del request_id, now_s
        raise ProviderError(f"no hosts are to be had: there is no provider, nor an offer {offer}")

    def release(self, lease_id: str, not_before_s: float, now_s: float, *, force: bool = False) -> Lease:
        """Refuse."""
        del not_before_s, now_s, force
        raise ProviderError(f"there is no lease {lease_id}")

    def leases(self, now_s: float) -> Sequence[Lease]:
        """Return nothing."""
        del now_s
        return ()
