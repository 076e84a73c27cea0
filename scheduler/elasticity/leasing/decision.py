"""What a policy of executors and hosts wants done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Change:
    """An executor that starts or stops.

    Attributes:
        component: Its component.
        host: Where; the identity of a request if the host is yet to be leased.
    """

    component: str
    host: str


@dataclass(frozen=True)
class Move:
    """An executor that starts on one host before it stops on another.

    Attributes:
        component: Its component.
        source: The host that it leaves.
        target: The host that it goes to.
    """

    component: str
    source: str
    target: str


@dataclass(frozen=True)
class Release:
    """A host that is given back.

    Attributes:
        host: Its name.
        at_s: When, s; its executors have left before.
    """

    host: str
    at_s: float


Verdict = Literal["grown", "shrunk", "held", "limited", "prolonged", "released"]
"""Kinds of reasons; "held": not decided for want of readings, "limited": a stated limit was in the way."""


@dataclass(frozen=True)
class Reason:
    """Why something is done, or not done.

    Attributes:
        verdict: Its kind.
        about: Name of the component or host.
        why: One sentence.
        cause: Tells apart reasons of one kind about the same; empty where there is one.
    """

    verdict: Verdict
    about: str
    why: str
    cause: str = ""


@dataclass(frozen=True)
class Price:
    """What a billing unit costs by which of the hosts that might go are kept, and what runs where.

    All in the currency of the offer: those of them that are paid for, items that are expected to be late, and
    moves. Other hosts stay whatever is chosen, and are left out.

    Attributes:
        cost: As decided.
        kept_cost: If every host is kept and nothing changes.
        bound: No choice costs less.
        change: What items cost that are late for the pause of the change, beside that, which is paid once.
    """

    cost: float
    kept_cost: float
    bound: float
    change: float = 0.0


@dataclass(frozen=True)
class LeasingDecision:
    """The outcome of a round; carried out in this order of its parts.

    Attributes:
        stops: Executors that stop, to make room or to empty a host.
        leases: (n_leases,) identities of requests for one host each; a repeated one leases nothing new.
        starts: Executors that start, those on a host yet to be leased once it is up.
        moves: Executors that leave hosts that are given back.
        prolongations: Hosts paid for one more billing unit.
        releases: Hosts that are given back.
        reasons: For all of these, and for what was held.
        price: Of the hosts, where their paid time ends and the policy weighs what they cost; None: elsewhere.
    """

    stops: tuple[Change, ...] = ()
    leases: tuple[str, ...] = ()
    starts: tuple[Change, ...] = ()
    moves: tuple[Move, ...] = ()
    prolongations: tuple[str, ...] = ()
    releases: tuple[Release, ...] = ()
    reasons: tuple[Reason, ...] = ()
    price: Price | None = None

    @property
    def changes_something(self) -> bool:
        """Whether an executor starts, stops or moves, or a host comes or goes."""
        return bool(self.stops or self.leases or self.starts or self.moves or self.releases)
