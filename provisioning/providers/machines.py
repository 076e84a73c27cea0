"""What stands behind a provider that keeps a book: hosts are started, looked at and stopped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from provisioning.providers.provider import ProviderError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from provisioning.providers.book import Book
    from provisioning.providers.entry import Entry
    from provisioning.providers.provider import HostOffer


class NotStartedError(ProviderError):
    """A host was not started, and that is certain; other errors leave it open."""


@dataclass(frozen=True)
class Sighting:
    """How the host of a lease was found.

    Attributes:
        state: `booting`; `ready`; `lost`: it failed, or was taken away.
        host: Its name; empty: not known.
        instance: The provider's own name for it; empty: not known.
        ready_at_s: Since when it is up, s since 1970; None: since it was looked at, at the latest.
        reason: Why it is lost.
        trouble: Why it is not known how it stands; empty if it is.
    """

    state: Literal["booting", "ready", "lost"]
    host: str = ""
    instance: str = ""
    ready_at_s: float | None = None
    reason: str = ""
    trouble: str = ""


class Machines(Protocol):
    """Hosts; a method returns, or raises `ProviderError`, within a bounded time.

    `start` and `stop` are called from threads, and again for the same lease, which changes nothing more.
    """

    def offers(self) -> Sequence[HostOffer]:
        """Return what can be started."""

    def name(self, book: Book, number: int, now_s: float) -> str:
        """Choose the name of the next host; empty: it is known later.

        Raises:
            ProviderError: None is free.
        """

    def delay_s(self, offer: str) -> float:
        """Return how long a start is held back after the request, s; 0: not at all."""

    def start(self, entry: Entry) -> str:
        """Start the host of a lease, without waiting until it is up, and return its instance (or nothing).

        Raises:
            NotStartedError: It was refused.
            ProviderError: It is unknown whether it was started.
        """

    def look(self, entries: Sequence[Entry], now_s: float) -> Mapping[str, Sighting]:
        """Look at hosts that were started and return what is known of them, by request."""

    def stop(self, entry: Entry) -> None:
        """Stop the host of a lease; one that is not there is stopped.

        Raises:
            ProviderError: It is unknown whether that was done.
        """
