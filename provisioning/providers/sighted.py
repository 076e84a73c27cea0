"""What a lease becomes when its host was looked at; what cannot be is not believed, and the lease says so."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from provisioning.providers.entry import Entry
    from provisioning.providers.machines import Sighting

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,252}")
_SHOWN = 80


def sighted(entry: Entry, found: Sighting, entries: Iterable[Entry], now_s: float) -> Entry:
    """Return the lease after a look.

    Args:
        entry: A lease whose host boots or is up. One that was up stays up until it is lost.
        found: How its host was found.
        entries: All leases.
        now_s: Present time, s since 1970.
    """
    if found.state == "lost":
        failed = entry.ready_at_s is None
        said = f": {found.reason}" if found.reason else ""
        why = f"it did not come up{said}" if failed else f"the provider took it away{said}"
        return replace(entry, step="stopping", failed=failed, reason=why)
    host = found.host or entry.host
    known = replace(entry, instance=found.instance or entry.instance, trouble=found.trouble)
    doubt = _doubt(entry, found, host, entries)
    if doubt:
        return replace(known, trouble=f"the provider {doubt}")
    if found.state == "booting" or entry.step == "ready":
        return replace(known, host=host)
    at_s = now_s if found.ready_at_s is None else min(found.ready_at_s, now_s)
    return replace(known, step="ready", host=host, ready_at_s=max(at_s, entry.leased_at_s))


def _doubt(entry: Entry, found: Sighting, host: str, entries: Iterable[Entry]) -> str:
    """Return why a host is not believed to be that of a lease; empty if it is."""
    if not host:
        return "says that it is up, and does not name its host" if found.state == "ready" else ""
    if host == entry.host:
        return ""
    if entry.step == "ready":
        return f"now names its host {host[:_SHOWN]!r}"
    if not _NAME.fullmatch(host):
        return f"names its host {host[:_SHOWN]!r}, which is no name of one"
    other = next((each for each in entries if each.open and each.host == host), None)
    return "" if other is None else f"names its host {host!r}, which is that of {other.lease_id}"
