"""The provider that all kinds share: what is wanted is kept in a book first, and done to machines then.

A start or a stop of which it is unknown whether it came through, as after a kill, is repeated. So no host is
ever forgotten, and what starts hosts has to bear repetition.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from provisioning.providers.at_once import each_at_once
from provisioning.providers.billing import BillFrom, bill
from provisioning.providers.entry import Entry, Step
from provisioning.providers.machines import NotStartedError
from provisioning.providers.provider import BusyHostError, Lease, ProviderError, UnlistedHostError
from provisioning.providers.sighted import sighted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from provisioning.providers.book import Book
    from provisioning.providers.book_store import BookStore
    from provisioning.providers.machines import Machines
    from provisioning.providers.provider import HostOffer, IsBusy

_REQUEST = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,63}")
_SHOWN_S = 86_400.0


class BookedProvider:
    """A `Provider`.

    Args:
        machines: What starts and stops hosts.
        store: Where leases are kept.
        busy: Says whether workers run on a host.
        bill_from: When the first billing unit of a lease starts.
        boot_limit_s: A host that is not up so long after the request has failed and is stopped, s.
    """

    def __init__(
        self,
        machines: Machines,
        store: BookStore,
        busy: IsBusy,
        *,
        bill_from: BillFrom = "ready",
        boot_limit_s: float = 900.0,
    ) -> None:
        self._machines = machines
        self._store = store
        self._busy = busy
        self._bill_from: BillFrom = bill_from
        self._boot_limit_s = boot_limit_s

    def offers(self) -> Sequence[HostOffer]:
        """Return what can be leased."""
        return self._machines.offers()

    def lease(self, offer: str, request_id: str, now_s: float) -> Lease:
        """Ask for a host; see `Provider`.

        Where it stays unknown whether a host was started, the lease is kept, and each look tries again.
        """
        if not _REQUEST.fullmatch(request_id):
            raise ProviderError(
                f"request {request_id!r}: must be 1 to 64 letters, digits, '.', '_', ':' or '-', "
                "a letter or a digit first"
            )
        with self._store.opened() as book:
            entry = book.asked(request_id)
            fresh = entry is None
            if entry is None:
                entry = self._new(book, offer, request_id, now_s)
                book.keep([entry])
            if entry.step == "starting" and entry.release_at_s is None:
                try:
                    entry = self._started(entry)
                except NotStartedError:
                    if fresh:  # otherwise an earlier start may have come through
                        book.forget(entry)
                    raise
                book.keep([entry])
        return self._lease(entry, now_s)

    def _new(self, book: Book, offer: str, request: str, now_s: float) -> Entry:
        offers = self.offers()
        found = next((each for each in offers if each.name == offer), None)
        if found is None:
            names = ", ".join(each.name for each in offers) or "none"
            raise ProviderError(f"there is no offer {offer!r}; offers are {names}")
        number = book.next_number
        step: Step = "waiting" if self._machines.delay_s(offer) > 0 else "starting"
        host = self._machines.name(book, number, now_s)
        return Entry(
            number, request, offer, found.billing_unit_s, found.unit_cost, found.boot_s, now_s, step, host
        )

    def release(self, lease_id: str, not_before_s: float, now_s: float, *, force: bool = False) -> Lease:
        """Give a host back; see `Provider`. If its time has come, that is done at once."""
        with self._store.opened() as book:
            entry = book.named(lease_id)
            if entry.step in ("waiting", "starting", "booting", "ready"):
                if not force and entry.host and self._busy(entry.host):
                    raise BusyHostError(
                        f"{entry.host} ({lease_id}) is not given back, since workers run there"
                    )
                earlier_s = (
                    not_before_s if entry.release_at_s is None else min(not_before_s, entry.release_at_s)
                )
                entry = replace(
                    entry, release_at_s=earlier_s, force=entry.force or force, reason="", trouble=""
                )
                if earlier_s <= now_s:
                    entry = _to_be_stopped(entry, now_s)
                book.keep([entry])
            if entry.step == "stopping":
                self._machines.stop(entry)
                entry = _ended(entry, now_s)
                book.keep([entry])
        return self._lease(entry, now_s)

    def leases(self, now_s: float) -> Sequence[Lease]:
        """Return all leases after doing what is due; see `Provider`.

        A start or a stop that does not come through is tried again by the next look; the lease says why.

        Raises:
            ProviderError: It cannot be found out how hosts stand. What is due was done all the same.
        """
        with self._store.opened() as book:
            self._start_due(book, now_s)
            trouble = None
            try:
                self._look(book, now_s)
            except ProviderError as error:
                trouble = error
            book.keep(self._judged(each, now_s) for each in book.entries)
            book.keep(each_at_once(partial(self._stopped, now_s), book.at("stopping")))
            if trouble is not None:
                raise trouble
            return [
                self._lease(each, now_s)
                for each in book.entries
                if each.ended_at_s is None or now_s - each.ended_at_s < _SHOWN_S
            ]

    def _start_due(self, book: Book, now_s: float) -> None:
        """Start what is to be started by now, and again of what that is unknown."""
        again = book.at("starting")
        due = [
            replace(each, step="starting")
            for each in book.at("waiting")
            if each.release_at_s is None and now_s - each.leased_at_s >= self._machines.delay_s(each.offer)
        ]
        book.keep(due)

        def start(entry: Entry) -> Entry:
            try:
                return self._started(entry)
            except ProviderError as error:
                if isinstance(error, NotStartedError) and entry in due:
                    return replace(_ended(entry, now_s), failed=True, reason=str(error))
                return replace(entry, trouble=str(error))

        book.keep(each_at_once(start, [each for each in (*again, *due) if each.release_at_s is None]))

    def _started(self, entry: Entry) -> Entry:
        instance = self._machines.start(entry) or entry.instance
        return replace(entry, step="booting", instance=instance, trouble="")

    def _look(self, book: Book, now_s: float) -> None:
        """Take in how hosts stand."""
        if started := book.at("booting", "ready"):
            found = self._machines.look(started, now_s)
            known = {each.number: each for each in book.entries}
            for each in started:
                if each.request in found:
                    known[each.number] = sighted(each, found[each.request], known.values(), now_s)
            book.keep(known.values())

    def _judged(self, entry: Entry, now_s: float) -> Entry:
        """Return what becomes of a lease by now, before anything is done to its host."""
        if entry.step in ("stopping", "ended"):
            return entry
        if entry.release_at_s is None or now_s < entry.release_at_s:
            late = entry.step != "ready" and now_s - entry.leased_at_s > self._boot_limit_s
            return self._failed(entry, now_s) if late else entry
        try:
            if not entry.force and entry.host and self._busy(entry.host):
                why = "it was to be given back, but workers run there"
                return replace(entry, release_at_s=None, reason=why)
        except ProviderError as error:
            return replace(entry, trouble=f"it is not given back yet: {error}")
        return _to_be_stopped(entry, now_s)

    def _failed(self, entry: Entry, now_s: float) -> Entry:
        """Return what becomes of a lease whose host is not up in time."""
        why = f"it was not up {self._boot_limit_s:g} s after the request"
        try:
            if entry.host and self._busy(entry.host):
                # how it stands could not be found out; it works
                return replace(entry, trouble=f"{why}, but workers run there")
        except UnlistedHostError:
            pass  # it never came up
        except ProviderError as error:
            return replace(entry, trouble=f"{why}; {error}")
        return _to_be_stopped(replace(entry, failed=True, reason=why), now_s)

    def _stopped(self, now_s: float, entry: Entry) -> Entry:
        try:
            self._machines.stop(entry)
        except ProviderError as error:
            return replace(entry, trouble=f"it could not be stopped: {error}")
        return _ended(entry, now_s)

    def _lease(self, entry: Entry, now_s: float) -> Lease:
        billed = bill(entry, self._bill_from, now_s)
        return Lease(
            entry.lease_id,
            entry.request,
            entry.offer,
            entry.status,
            entry.leased_at_s,
            entry.host,
            entry.ready_at_s,
            billed.paid_until_s,
            billed.units * entry.unit_cost,
            entry.release_at_s,
            "; ".join(filter(None, (entry.reason, entry.trouble))),
            entry.trouble,
        )


def _to_be_stopped(entry: Entry, now_s: float) -> Entry:
    """Return a lease whose host is to be stopped; one of which nothing was started has ended."""
    return _ended(entry, now_s) if entry.step == "waiting" else replace(entry, step="stopping")


def _ended(entry: Entry, now_s: float) -> Entry:
    # not before it was there, on a clock that went back
    ended_at_s = max(now_s, entry.leased_at_s, entry.ready_at_s or now_s)
    return replace(entry, step="ended", ended_at_s=ended_at_s, trouble="")
