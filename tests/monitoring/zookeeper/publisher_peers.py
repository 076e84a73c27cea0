"""What publishers report of their peers, for tests."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING

from monitoring.zookeeper.peer_list import Listing

if TYPE_CHECKING:
    from collections.abc import Callable

    from monitoring.reading import Address


class Peers:
    """The peers that a publisher reported; a test can wait on them."""

    def __init__(self) -> None:
        self.listing = Listing(frozenset(), {})
        self._changed = threading.Condition()

    def __call__(self, listing: Listing) -> None:
        with self._changed:
            self.listing = listing
            self._changed.notify_all()

    def wait(self, expected: dict[str, Address], patience_s: float) -> dict[str, Address]:
        self.wait_for(lambda listing: dict(listing.addresses) == expected, patience_s)
        return dict(self.listing.addresses)

    def wait_for(self, rule: Callable[[Listing], bool], patience_s: float) -> None:
        with self._changed:
            came = self._changed.wait_for(lambda: rule(self.listing), patience_s)
        assert came, self.listing


def content(number: int, port: int = 7091) -> bytes:
    return json.dumps({"version": 1, "number": number, "probe": f"10.0.0.1:{port}"}).encode()
