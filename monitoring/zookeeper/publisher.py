"""The agent's side of ZooKeeper: its own ephemeral znode, and readings of others as far as it needs them."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from monitoring.zookeeper.partners import PartnerFinder
from monitoring.zookeeper.peer_list import PeerList
from monitoring.zookeeper.session import Session

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from formats.log import Log
    from monitoring.zookeeper.access import ZookeeperAuth
    from monitoring.zookeeper.peer_list import Listing
    from monitoring.zookeeper.session_figures import SessionFigures


@dataclass(frozen=True, slots=True)
class PublisherOptions:
    """Where and how to publish.

    Attributes:
        zookeeper: `HOST:PORT`, several separated by commas.
        root: Path under which `nodes` and `partners` live.
        host: Name of this host's znode.
        auth: Credentials, None for an open ZooKeeper.
        session_timeout_s: Silence after which ZooKeeper removes the znode, s.
        list_pause_s: Least time between two looks at the list of peers, s.
        retry_s: Time until the next try when the znode is held by another session, s.
        partners_pause_s: Time between two looks at the partners, s.
        loopback: Whether this host publishes a loopback address: then peers may be at such addresses too.
    """

    zookeeper: str
    root: str
    host: str
    auth: ZookeeperAuth | None = None
    session_timeout_s: float = 10.0
    list_pause_s: float = 1.0
    retry_s: float = 1.0
    partners_pause_s: float = 60.0
    loopback: bool = False


class Publisher:
    """Keeps this host's znode up to date, and reports peers and partners.

    Args:
        options: See `PublisherOptions`.
        on_peers: Called from the session's thread after a change of the peers (this host excluded).
        on_partners: Called from there when other hosts exchange tuples with this one than before.
        log: Takes one line per change of state.
        on_fault: Called from the session's thread when that ends by a fault of its own: nothing is published
            any more.
    """

    def __init__(
        self,
        options: PublisherOptions,
        on_peers: Callable[[Listing], None],
        on_partners: Callable[[tuple[str, ...]], None],
        log: Log,
        *,
        on_fault: Callable[[], None] = lambda: None,
    ) -> None:
        self._path = f"{options.root}/nodes/{options.host}"
        rng = random.Random(options.host)  # noqa: S311 - spreads load; nothing secret depends on it
        self._peers = PeerList(
            folder=f"{options.root}/nodes",
            host=options.host,
            pause_s=options.list_pause_s,
            rng=rng,
            on_listing=on_peers,
            log=log,
            loopback=options.loopback,
        )
        self._on_partners = on_partners
        self._partners = PartnerFinder(
            folder=f"{options.root}/partners",
            host=options.host,
            pause_s=options.partners_pause_s,
            rng=rng,
            on_partners=self._partners_found,
            log=log,
        )
        self._session = Session(
            options.zookeeper,
            self._path,
            log,
            auth=options.auth,
            session_timeout_s=options.session_timeout_s,
            retry_s=options.retry_s,
            reasons=_REASONS,
            on_connected=self._peers.look_soon,
            on_turn=self._take_turn,
            on_fault=on_fault,
        )
        self._peers.on_change = self._session.wake

    def start(self) -> None:
        """Begin to connect; returns at once."""
        self._session.start()

    def publish(self, content: bytes) -> None:
        """Have the znode hold `content` soon; only the latest content counts."""
        self._session.hold(self._path, content)

    def refresh(self, peer: str) -> None:
        """Read a peer's address again: it does not answer where it was."""
        self._peers.refresh(peer)
        self._session.wake()

    def figures(self) -> SessionFigures:
        """Return what the session has counted."""
        return self._session.figures()

    def unreadable(self) -> dict[str, int]:
        """Count looks at readings that could not be read, by what they are of."""
        return {"peer": self._peers.unreadable, "partners": self._partners.unreadable}

    def stop(self) -> None:
        """Close the session, which removes the znode. Blocks for seconds at most."""
        self._session.stop()

    def _take_turn(self, client: Any) -> None:
        self._peers.take_turn(client)
        self._partners.take_turn(client)

    def _partners_found(self, partners: tuple[str, ...]) -> None:
        self._peers.favour(partners)
        self._on_partners(partners)


_REASONS: Mapping[str, str] = {
    "suspended": "connection lost; known peers are still probed, the reading is written again on return",
    "held": "the znode belongs to another session: a former run's until it expires, or a second agent's with "
    "the same --host; waiting until it is gone",
}
