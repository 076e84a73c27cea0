"""A kill between any two steps leaks no host and loses no lease."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from provisioning.providers.book import Book
from provisioning.providers.booked_provider import BookedProvider
from provisioning.providers.machines import Sighting
from provisioning.providers.provider import HostOffer, ProviderError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from provisioning.providers.entry import Entry

OFFER = HostOffer("small", 400.0, 8192.0, 4, 600.0, 2.0, 60.0)


class Killed(BaseException):
    """The process is gone."""


class World:
    """What outlives the process: the file of leases, and hosts. The process is killed at its k-th step."""

    def __init__(self) -> None:
        self.kept: Sequence[Entry] = ()
        self.hosts: set[str] = set()
        self.left = 10**9
        self.broken = False

    def step(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise Killed

    @contextmanager
    def opened(self) -> Iterator[Book]:
        yield Book(self.kept, self._write)

    def _write(self, entries: Sequence[Entry]) -> None:
        self.step()
        self.kept = entries
        self.step()

    def offers(self) -> Sequence[HostOffer]:
        return [OFFER]

    def name(self, _book: Book, number: int, _now_s: float) -> str:
        return f"host-{number}"

    def delay_s(self, _offer: str) -> float:
        return 0.0

    def start(self, entry: Entry) -> str:
        self.step()
        self.hosts.add(entry.request)
        self.step()
        if self.broken:
            raise ProviderError("no answer")
        return ""

    def look(self, entries: Sequence[Entry], _now_s: float) -> Mapping[str, Sighting]:
        return {
            each.request: Sighting("ready" if each.request in self.hosts else "booting") for each in entries
        }

    def stop(self, entry: Entry) -> None:
        self.step()
        self.hosts.discard(entry.request)
        self.step()
        if self.broken:
            raise ProviderError("no answer")

    def provider(self) -> BookedProvider:
        return BookedProvider(self, self, lambda _: False, boot_limit_s=300.0)


CALLS = st.lists(
    st.one_of(
        st.tuples(st.just("lease"), st.sampled_from(["a", "b", "c"])),
        st.tuples(st.just("release"), st.integers(1, 3)),
        st.tuples(st.just("leases"), st.none()),
    ),
    max_size=12,
)


@given(calls=CALLS, kills=st.lists(st.integers(0, 12), max_size=6), broken=st.sets(st.integers(0, 11)))
def test_hosts_are_those_of_leases_that_live_whenever_the_process_was_killed(
    calls: list[tuple[str, str | int | None]], kills: list[int], broken: set[int]
) -> None:
    """And a request has one lease, also where the provider behind gave no answer for a while."""
    world = World()
    for k, (what, which) in enumerate(calls):
        world.left = kills.pop() if kills else 10**9
        world.broken = k in broken
        with suppress(Killed, ProviderError):
            provider, now_s = world.provider(), 10.0 * k
            match what:
                case "lease":
                    provider.lease("small", str(which), now_s)
                case "release":
                    provider.release(f"lease-{which}", now_s + 10.0, now_s)
                case _:
                    provider.leases(now_s)
    world.left, world.broken = 10**9, False
    leases = world.provider().leases(200.0)
    assert {each.request_id for each in leases if each.live} == world.hosts
    assert len({each.request_id for each in leases}) == len(leases)
    assert not [each for each in leases if each.status == "booting"]


def test_a_start_that_never_gets_an_answer_has_failed_in_the_end_and_is_stopped() -> None:
    world = World()
    world.broken = True
    with suppress(ProviderError):
        world.provider().lease("small", "a", 0.0)
    (lease,) = world.provider().leases(10.0)
    assert (lease.status, lease.reason) == ("booting", "no answer")
    (lease,) = world.provider().leases(301.0)
    assert (lease.status, lease.reason) == (
        "failed",
        "it was not up 300 s after the request; it could not be stopped: no answer",
    )
    world.broken = False
    (lease,) = world.provider().leases(302.0)
    assert (lease.status, lease.reason) == ("failed", "it was not up 300 s after the request")
    assert not world.hosts
