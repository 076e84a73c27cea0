"""All leases of a provider, while one process changes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from provisioning.providers.provider import ProviderError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from provisioning.providers.entry import Entry


class Book:
    """The leases. One that was started is never left out: its request may be repeated at any time.

    Args:
        entries: The leases; their numbers rise.
        write: Keeps them for the next process.
    """

    def __init__(self, entries: Iterable[Entry], write: Callable[[Sequence[Entry]], None]) -> None:
        self._entries = {each.number: each for each in entries}
        self._write = write

    @property
    def entries(self) -> Sequence[Entry]:
        """The leases, the oldest first."""
        return tuple(self._entries.values())

    @property
    def next_number(self) -> int:
        """The number of the next lease."""
        return max(self._entries, default=0) + 1

    def at(self, *steps: str) -> list[Entry]:
        """Return the leases at some steps, the oldest first."""
        return [each for each in self._entries.values() if each.step in steps]

    def asked(self, request: str) -> Entry | None:
        """Return the lease of a request; None if there is none."""
        return next((each for each in self._entries.values() if each.request == request), None)

    def named(self, lease_id: str) -> Entry:
        """Return a lease by name.

        Raises:
            ProviderError: There is none.
        """
        found = next((each for each in self._entries.values() if each.lease_id == lease_id), None)
        if found is None:
            raise ProviderError(f"there is no lease {lease_id!r}")
        return found

    def keep(self, entries: Iterable[Entry]) -> None:
        """Put leases in the place of those of the same numbers, and return when they are written.

        Raises:
            ProviderError: They cannot be.
        """
        self._change(self._entries | {each.number: each for each in entries})

    def forget(self, entry: Entry) -> None:
        """Leave a lease out of which nothing was started, and return when that is written.

        Raises:
            ProviderError: It cannot be.
        """
        self._change({number: each for number, each in self._entries.items() if number != entry.number})

    def _change(self, entries: dict[int, Entry]) -> None:
        if entries != self._entries:
            self._write(tuple(entries.values()))
            self._entries = entries
