"""Chance comes from the seed and the number of a lease alone."""

from __future__ import annotations

import numpy as np
import pytest

from provisioning.providers.provider import HostOffer, ProviderError
from provisioning.providers.simulated import BootChances, SimulatedProvider

OFFER = HostOffer("small", 400.0, 8192.0, 4, 600.0, 2.0, 60.0)
CHANCES = BootChances(sigma=0.5, failed_share=0.2, delayed_share=0.1, delay_s=1000.0)


def boots(seed: int, chances: BootChances, count: int = 400, between_s: float = 0.0) -> list[float]:
    """Boot times, s; NaN: failed."""
    provider = SimulatedProvider([OFFER], seed, lambda _: False, chances=chances, boot_limit_s=1e6)
    for number in range(count):
        provider.lease("small", f"r-{number}", number * between_s)
    return [
        np.nan if each.ready_at_s is None else each.ready_at_s - each.leased_at_s
        for each in provider.leases(1e5)
    ]


def test_a_seed_says_how_boots_go_and_when_hosts_are_leased_does_not() -> None:
    first = boots(7, CHANCES)
    np.testing.assert_allclose(first, boots(7, CHANCES, between_s=64.0))
    np.testing.assert_array_equal(first[:50], boots(7, CHANCES, count=50))
    assert not np.array_equal(first, boots(8, CHANCES), equal_nan=True)


def test_boots_follow_their_distribution() -> None:
    """Bounds of four standard deviations."""
    found = np.array(boots(7, CHANCES))
    failed = np.isnan(found)
    assert failed.mean() == pytest.approx(0.2, abs=0.08)
    late = found[~failed] > 1000.0
    assert late.mean() == pytest.approx(0.1, abs=0.07)
    usual = np.log(found[~failed][~late])
    assert np.median(usual) == pytest.approx(np.log(60.0), abs=0.15)
    assert usual.std() == pytest.approx(0.5, abs=0.09)


def test_one_chance_does_not_shift_the_others() -> None:
    whole = np.array(boots(7, CHANCES))
    some = np.array(boots(7, BootChances(sigma=0.5, delayed_share=0.1, delay_s=1000.0)))
    np.testing.assert_array_equal(whole[~np.isnan(whole)], some[~np.isnan(whole)])


def test_without_chances_boots_take_their_usual_time() -> None:
    assert set(boots(7, BootChances())) == {60.0}


def test_hosts_are_limited() -> None:
    provider = SimulatedProvider([OFFER], 1, lambda _: False, hosts_max=1)
    lease = provider.lease("small", "r-1", 0.0)
    with pytest.raises(ProviderError, match=r"^all 1 hosts are leased$"):
        provider.lease("small", "r-2", 0.0)
    provider.release(lease.lease_id, 0.0, 0.0)
    assert provider.lease("small", "r-2", 0.0).live
