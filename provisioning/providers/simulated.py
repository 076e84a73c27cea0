"""Hosts that exist in name only: they boot, fail and are late by chance, the same for a seed in every run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from provisioning.providers.book_store import BookMemory
from provisioning.providers.booked_provider import BookedProvider
from provisioning.providers.machines import NotStartedError, Sighting

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from provisioning.providers.billing import BillFrom
    from provisioning.providers.book import Book
    from provisioning.providers.book_store import BookStore
    from provisioning.providers.entry import Entry
    from provisioning.providers.provider import HostOffer, IsBusy


@dataclass(frozen=True)
class BootChances:
    """How boots go. The n-th lease boots in the same way, whatever was leased before it.

    Attributes:
        sigma: Of the logarithm of the boot time, whose median is the offer's `boot_s`; 0: always that.
        failed_share: Probability that a boot fails, 0 to 1.
        delayed_share: Probability that a boot takes longer, 0 to 1.
        delay_s: By how much it does, s.
    """

    sigma: float = 0.0
    failed_share: float = 0.0
    delayed_share: float = 0.0
    delay_s: float = 0.0


class SimulatedMachines:
    """Simulated `Machines`.

    Args:
        offers: What can be started.
        seed: Of all chance.
        chances: How boots go.
        hosts_max: Hosts at once; None: any number.
    """

    def __init__(
        self, offers: Sequence[HostOffer], seed: int, chances: BootChances, hosts_max: int | None = None
    ) -> None:
        self._offers = {each.name: each for each in offers}
        self._seed = seed
        self._chances = chances
        self._hosts_max = hosts_max

    def offers(self) -> Sequence[HostOffer]:
        """Return what can be started."""
        return tuple(self._offers.values())

    def name(self, book: Book, number: int, now_s: float) -> str:
        """Return a name that no host had before."""
        del now_s
        if self._hosts_max is not None and sum(each.open for each in book.entries) >= self._hosts_max:
            raise NotStartedError(f"all {self._hosts_max} hosts are leased")
        return f"simulated-{number}"

    def delay_s(self, offer: str) -> float:
        """Hold nothing back."""
        del offer
        return 0.0

    def start(self, entry: Entry) -> str:
        """Start a host: what comes of it is seen later."""
        del entry
        return ""

    def look(self, entries: Sequence[Entry], now_s: float) -> Mapping[str, Sighting]:
        """Return what chance has made of hosts by now."""
        return {each.request: self._seen(each, now_s) for each in entries}

    def _seen(self, entry: Entry, now_s: float) -> Sighting:
        # all three are drawn in any case, so that one chance does not shift the others
        random = np.random.default_rng([self._seed, entry.number])
        spread, late, fails = random.standard_normal(), random.random(), random.random()
        boot_s = entry.boot_s * float(np.exp(self._chances.sigma * spread))
        boot_s += self._chances.delay_s * (late < self._chances.delayed_share)
        if now_s < entry.leased_at_s + boot_s:
            return Sighting("booting")
        if fails < self._chances.failed_share:
            return Sighting("lost", reason="its boot failed, by chance")
        return Sighting("ready", ready_at_s=entry.leased_at_s + boot_s)

    def stop(self, entry: Entry) -> None:
        """Stop a host."""


class SimulatedProvider(BookedProvider):
    """A provider of simulated hosts, for replays and tests.

    Args:
        offers: What can be leased.
        seed: Of all chance.
        busy: Says whether workers run on a host.
        chances: How boots go.
        hosts_max: Hosts at once; None: any number.
        store: Where leases are kept; None: in memory.
        bill_from: When the first billing unit of a lease starts.
        boot_limit_s: A host that is not up so long after the request has failed, s.
    """

    def __init__(
        self,
        offers: Sequence[HostOffer],
        seed: int,
        busy: IsBusy,
        *,
        chances: BootChances | None = None,
        hosts_max: int | None = None,
        store: BookStore | None = None,
        bill_from: BillFrom = "ready",
        boot_limit_s: float = 900.0,
    ) -> None:
        machines = SimulatedMachines(offers, seed, chances or BootChances(), hosts_max)
        super().__init__(
            machines, store or BookMemory(), busy, bill_from=bill_from, boot_limit_s=boot_limit_s
        )
