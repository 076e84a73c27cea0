"""What every provider has to do, whatever stands behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from provisioning.providers.provider import BusyHostError, ProviderError, UnlistedHostError

if TYPE_CHECKING:
    from provisioning.providers.provider import Lease, Provider

T = 1_000_000.0
UP = T + 60.0
KINDS = [
    "simulated",
    *(pytest.param(each, marks=pytest.mark.programs) for each in ("command", "lab", "http")),
]


@pytest.fixture(params=KINDS)
def world(request: pytest.FixtureRequest, make_world: Any) -> Any:
    return make_world(request.param)


def only(provider: Provider, now_s: float) -> Lease:
    (lease,) = provider.leases(now_s)
    return lease


def up(provider: Provider, request: str = "r-1") -> Lease:
    """A lease from `T` on whose host is up at `UP`."""
    lease_id = provider.lease("small", request, T).lease_id
    provider.leases(T)  # where a host is up at once, it is seen here
    return next(each for each in provider.leases(UP) if each.lease_id == lease_id)


def test_offers_say_what_a_host_has_and_costs(world: Any) -> None:
    (offer,) = world.made().offers()
    assert (offer.name, offer.cpu, offer.memory_mb, offer.slots) == ("small", 400, 8192, 4)
    assert (offer.billing_unit_s, offer.unit_cost, offer.boot_s) == (600, 2, 60)


def test_a_lease_boots_first(world: Any) -> None:
    """It is returned at once, and nothing is billed."""
    world.become("booting")
    provider = world.made()
    lease = provider.lease("small", "r-1", T)
    assert (lease.status, lease.request_id, lease.offer, lease.leased_at_s) == ("booting", "r-1", "small", T)
    assert (lease.ready_at_s, lease.paid_until_s, lease.cost, lease.live) == (None, None, 0.0, True)
    assert only(provider, T + 1.0).status == "booting"


def test_a_host_that_is_up_is_ready_and_has_a_name(world: Any) -> None:
    lease = up(world.made())
    assert (lease.status, bool(lease.host), lease.reason) == ("ready", True, "")
    assert lease.ready_at_s is not None
    assert T <= lease.ready_at_s <= UP


def test_the_same_request_is_the_same_lease(world: Any) -> None:
    """Also for a provider that was made anew, and for a lease that is gone; nothing is started for it."""
    provider = world.made()
    lease = provider.lease("small", "r-1", T)
    assert provider.lease("small", "r-1", T + 1.0) == lease
    assert world.made().lease("small", "r-1", T + 1.0) == lease
    assert len(provider.leases(T + 1.0)) == 1
    assert world.running in (1, None)
    provider.release(lease.lease_id, T, T + 2.0)
    again = world.made().lease("small", "r-1", T + 9e6)
    assert (again.lease_id, again.status) == (lease.lease_id, "gone")
    assert world.running in (0, None)


def test_leases_survive_a_restart(world: Any) -> None:
    before = up(world.made())
    assert only(world.made(), UP) == before


def test_leases_come_in_the_order_in_which_they_were_asked_for(world: Any) -> None:
    """Also where the clock went back in between."""
    provider = world.made()
    for request, now_s in (("b", T), ("a", T + 1.0), ("c", T - 50.0)):
        provider.lease("small", request, now_s)
    assert [each.request_id for each in provider.leases(T + 2.0)] == ["b", "a", "c"]


def test_hosts_at_the_same_time_have_different_names(world: Any) -> None:
    provider = world.made()
    for request in ("a", "b", "c"):
        up(provider, request)
    assert len({each.host for each in provider.leases(UP)}) == 3


def test_a_host_is_given_back_at_once(world: Any) -> None:
    provider = world.made()
    lease = provider.release(up(provider).lease_id, UP, UP)
    assert (lease.status, lease.live, lease.release_at_s) == ("gone", False, UP)
    assert world.running in (0, None)


def test_a_host_is_given_back_later(world: Any) -> None:
    """By the first look at or after that time, also of a provider that was made anew."""
    provider = world.made()
    lease = provider.release(up(provider).lease_id, T + 500.0, UP)
    assert (lease.status, lease.release_at_s) == ("draining", T + 500.0)
    assert only(provider, T + 499.0).status == "draining"
    assert world.running in (1, None)
    assert only(world.made(), T + 500.0).status == "gone"
    assert world.running in (0, None)


@pytest.mark.parametrize("times", [(T + 500.0, T + 300.0), (T + 300.0, T + 500.0)])
def test_the_earlier_time_counts(world: Any, times: tuple[float, float]) -> None:
    provider = world.made()
    lease_id = up(provider).lease_id
    for time_s in times:
        last = provider.release(lease_id, time_s, UP)
    assert last.release_at_s == T + 300.0


def test_a_busy_host_is_not_given_back(world: Any) -> None:
    """Neither now nor later; the lease stays as it is."""
    provider = world.made()
    lease = up(provider)
    world.busy.add(lease.host)
    for time_s in (UP, UP + 100.0):
        with pytest.raises(BusyHostError, match=rf"^{lease.host} \({lease.lease_id}\) is not given back"):
            provider.release(lease.lease_id, time_s, UP)
    assert only(provider, UP) == lease
    assert world.running in (1, None)


def test_a_host_that_is_busy_when_its_time_comes_stays(world: Any) -> None:
    """It is ready as before and says why; asked again when it is idle, it goes."""
    provider = world.made()
    lease = up(provider)
    provider.release(lease.lease_id, T + 300.0, UP)
    world.busy.add(lease.host)
    stays = only(provider, T + 300.0)
    assert (stays.status, stays.release_at_s) == ("ready", None)
    assert "workers run there" in stays.reason
    world.busy.clear()
    assert only(provider, T + 301.0).status == "ready"
    assert provider.release(lease.lease_id, T, T + 302.0).status == "gone"


def test_force_gives_a_busy_host_back_now_and_when_its_time_comes(world: Any) -> None:
    provider = world.made()
    now, later = up(provider, "a"), up(provider, "b")
    world.busy |= {now.host, later.host}
    assert provider.release(now.lease_id, UP, UP, force=True).status == "gone"
    provider.release(later.lease_id, T + 300.0, UP, force=True)
    assert [each.status for each in world.made().leases(T + 300.0)] == ["gone", "gone"]


def test_gone_stays_gone(world: Any) -> None:
    provider = world.made()
    lease = up(provider)
    gone = provider.release(lease.lease_id, UP, UP)
    world.busy.add(lease.host)
    assert provider.release(lease.lease_id, UP + 9.0, UP + 9.0) == gone
    assert only(provider, UP + 700.0) == gone


def test_gone_leases_are_shown_for_a_day(world: Any) -> None:
    provider = world.made()
    provider.release(up(provider).lease_id, UP, UP)
    assert only(provider, UP + 86_399.0).status == "gone"
    assert not provider.leases(UP + 86_400.0)


def test_a_host_that_boots_can_be_given_back(world: Any) -> None:
    world.become("booting")
    provider = world.made()
    lease = provider.lease("small", "r-1", T)
    gone = provider.release(lease.lease_id, T, T + 1.0)
    assert (gone.status, gone.cost, gone.paid_until_s) == ("gone", 0.0, None)
    assert world.running in (0, None)


@pytest.mark.parametrize("bill_from", ["ready", "request"])
def test_a_failed_boot_is_not_billed(world: Any, bill_from: str) -> None:
    """It is failed at the latest when the time for boots is over, and nothing of it goes on."""
    world.become("failed")
    provider = world.made(bill_from=bill_from)
    provider.lease("small", "r-1", T)
    lease = only(provider, T + 301.0)
    assert (lease.status, lease.live, lease.cost, lease.paid_until_s) == ("failed", False, 0.0, None)
    assert lease.reason
    assert world.running in (0, None)
    world.become("ready")
    assert only(world.made(bill_from=bill_from), T + 302.0).status == "failed"


def test_a_host_with_workers_has_not_failed_although_it_is_not_known_to_be_up(world: Any) -> None:
    """How it stands may be what cannot be found out."""
    if world.provider["kind"] == "simulated":
        world.provider["delayed_share"], world.provider["delay_s"] = 1.0, 900.0
    world.become("booting")
    provider = world.made()
    host = provider.lease("small", "r-1", T).host or only(provider, T).host
    world.busy.add(host)
    lease = only(provider, T + 301.0)
    assert (lease.status, lease.live) == ("booting", True)
    assert lease.reason == "it was not up 300 s after the request, but workers run there"
    world.busy.clear()
    assert only(provider, T + 302.0).status == "failed"


def test_a_host_that_is_not_known_to_be_up_is_given_back_when_its_time_comes(world: Any) -> None:
    world.become("booting")
    provider = world.made()
    lease = provider.lease("small", "r-1", T)
    provider.release(lease.lease_id, T + 301.0, T)
    assert only(provider, T + 302.0).status == "gone"


@pytest.mark.parametrize(("error", "status"), [(ProviderError, "booting"), (UnlistedHostError, "failed")])
def test_a_host_is_not_stopped_because_nimbus_does_not_answer(
    world: Any, error: type[ProviderError], status: str
) -> None:
    """One that it does not list never came up."""
    if world.provider["kind"] == "simulated":
        world.provider["delayed_share"], world.provider["delay_s"] = 1.0, 900.0
    world.become("booting")
    provider = world.made()
    host = provider.lease("small", "r-1", T).host or only(provider, T).host
    assert host
    world.unknown = error("whether workers run there is not known")
    assert only(provider, T + 301.0).status == status


def test_a_unit_is_billed_when_it_starts(world: Any) -> None:
    """Renewing is not releasing."""
    provider = world.made()
    start_s = up(provider).ready_at_s
    assert start_s is not None
    billed = [
        (lease.cost, lease.paid_until_s)
        for lease in (only(provider, start_s + after_s) for after_s in (0.0, 599.0, 600.0, 1800.0))
    ]
    paid = [(2.0, 600.0), (2.0, 600.0), (4.0, 1200.0), (8.0, 2400.0)]
    assert billed == [(cost, start_s + end_s) for cost, end_s in paid]


@pytest.mark.parametrize(("after_s", "cost"), [(599.0, 2.0), (600.0, 2.0), (601.0, 4.0)])
def test_a_host_that_goes_when_a_unit_would_start_is_not_billed_for_it(
    world: Any, after_s: float, cost: float
) -> None:
    provider = world.made()
    lease = up(provider)
    assert lease.ready_at_s is not None
    provider.release(lease.lease_id, 0.0, lease.ready_at_s + after_s)
    assert only(provider, UP + 9000.0).cost == cost


def test_units_can_start_with_the_request(world: Any) -> None:
    provider = world.made(bill_from="request")
    assert provider.lease("small", "r-1", T).paid_until_s == T + 600.0
    assert only(provider, T + 600.0).cost == 4.0


def test_a_clock_that_jumps_back_does_no_harm(world: Any) -> None:
    """Nothing is lost, nothing ends, and no cost is negative."""
    provider = world.made()
    lease = up(provider)
    provider.release(provider.lease("small", "r-2", UP).lease_id, UP, UP)
    stays, gone = provider.leases(T - 1e6)
    assert (stays.status, stays.host, stays.cost, stays.ready_at_s) == (
        "ready", lease.host, 2.0, lease.ready_at_s
    )  # fmt: skip
    assert gone.status == "gone"
    back = provider.release(stays.lease_id, T - 2e6, T - 1e6)
    assert (back.status, back.cost) == ("gone", 2.0)
    assert back in provider.leases(UP)
    assert provider.lease("small", "r-3", T - 1e6).status == "booting"


def test_what_does_not_exist_is_refused_in_one_sentence(world: Any) -> None:
    provider = world.made()
    with pytest.raises(ProviderError, match=r"^there is no offer 'big'; offers are small$"):
        provider.lease("big", "r-1", T)
    with pytest.raises(ProviderError, match=r"^there is no lease 'lease-7'$"):
        provider.release("lease-7", T, T)
    with pytest.raises(ProviderError, match=r"^request '-rf': must be 1 to 64 letters"):
        provider.lease("small", "-rf", T)
    assert not provider.leases(T)
