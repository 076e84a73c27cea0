"""Hosts of a service that is asked over HTTP; its contract is in docs/host-providers.md."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal
from urllib.parse import quote

from pydantic import ConfigDict, Field, TypeAdapter

from provisioning.providers.machines import NotStartedError, Sighting
from provisioning.providers.provider import HostOffer, ProviderError
from provisioning.providers.rest_calls import RefusedError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from provisioning.providers.book import Book
    from provisioning.providers.entry import Entry
    from provisioning.providers.rest_calls import RestCalls

_NO_SUCH_LEASE = 404
_CERTAIN = (400, 404, 409, 422)
"""What refuses a lease for good; after others, such as 429, an earlier repetition may have come through."""
_Text = Annotated[str, Field(min_length=1)]
_Positive = Annotated[float, Field(gt=0)]
_NotNegative = Annotated[float, Field(ge=0)]
# a service may say more than is asked of it
_ANSWER = ConfigDict(extra="ignore", strict=True, allow_inf_nan=False)


@dataclass(frozen=True)
class _Offer:
    __pydantic_config__ = _ANSWER

    name: _Text
    cpu: _Positive
    memory_mb: _Positive
    slots: Annotated[int, Field(ge=1)]
    billing_unit_s: _Positive
    unit_cost: _NotNegative
    boot_s: _NotNegative


@dataclass(frozen=True)
class _Offers:
    __pydantic_config__ = _ANSWER

    offers: list[_Offer]


@dataclass(frozen=True)
class _Lease:
    __pydantic_config__ = _ANSWER

    request_id: _Text
    status: Literal["booting", "ready", "failed", "gone"]
    host: str = ""
    lease_id: str = ""
    ready_at_s: float | None = None
    reason: str = ""

    @property
    def sighting(self) -> Sighting:
        if self.status in ("failed", "gone"):
            return Sighting("lost", self.host, self.lease_id, reason=self.reason or f"it is {self.status}")
        state: Literal["booting", "ready"] = "ready" if self.status == "ready" else "booting"
        return Sighting(state, self.host, self.lease_id, self.ready_at_s)


@dataclass(frozen=True)
class _Leases:
    __pydantic_config__ = _ANSWER

    leases: list[_Lease]


_OFFERS, _LEASE, _LEASES = TypeAdapter(_Offers), TypeAdapter(_Lease), TypeAdapter(_Leases)


class HttpMachines:
    """`Machines` of a service.

    Args:
        calls: Calls it.
    """

    def __init__(self, calls: RestCalls) -> None:
        self._calls = calls

    def offers(self) -> Sequence[HostOffer]:
        """Ask what there is."""
        found = self._calls.call("GET", "/offers", _OFFERS).offers
        return tuple(HostOffer(**vars(each)) for each in found)

    def name(self, book: Book, number: int, now_s: float) -> str:
        """Leave names to the service."""
        del book, number, now_s
        return ""

    def delay_s(self, offer: str) -> float:
        """Hold nothing back."""
        del offer
        return 0.0

    def start(self, entry: Entry) -> str:
        """Put the lease; the same request again is the same lease."""
        try:
            lease = self._calls.call("PUT", _path(entry), _LEASE, {"offer": entry.offer}, entry.request)
        except RefusedError as error:
            if error.status in _CERTAIN:
                raise NotStartedError(str(error)) from None
            raise
        if lease.request_id != entry.request:
            raise ProviderError(
                f"PUT {_path(entry)}: the answer makes no sense: request_id: is {lease.request_id!r}"
            )
        return lease.lease_id

    def look(self, entries: Sequence[Entry], now_s: float) -> Mapping[str, Sighting]:
        """Ask for all leases."""
        del entries, now_s
        found = self._calls.call("GET", "/leases", _LEASES).leases
        return {each.request_id: each.sighting for each in found}

    def stop(self, entry: Entry) -> None:
        """Delete the lease; one that the service does not know is gone."""
        try:
            self._calls.call("DELETE", _path(entry), _LEASE, key=entry.request)
        except RefusedError as error:
            if error.status != _NO_SUCH_LEASE:
                raise


def _path(entry: Entry) -> str:
    return f"/leases/{quote(entry.request, safe='')}"
