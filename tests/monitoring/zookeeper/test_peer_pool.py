"""Rules of the sample of peers."""

from __future__ import annotations

import random
from collections import Counter

from monitoring.zookeeper.peer_pool import PeerPool

NAMES = [f"h{number:03d}" for number in range(300)]


def pool(names: list[str], seed: int = 0, capacity: int = 16) -> PeerPool:
    result = PeerPool(random.Random(seed), capacity)
    result.update(names)
    return result


def test_few_peers_are_all_members() -> None:
    assert pool(NAMES[:16]).members() == set(NAMES[:16])


def test_of_many_peers_a_bounded_random_sample_is() -> None:
    samples = [pool(NAMES, seed).members() for seed in range(300)]
    assert {len(sample) for sample in samples} == {16}
    assert max(Counter(peer for sample in samples for peer in sample).values()) < 40


def test_members_stay_while_others_come_and_go() -> None:
    one = pool(NAMES[:100])
    before = one.members()
    one.update(NAMES)
    assert one.members() == before
    gone = min(before)
    one.update(set(NAMES) - {gone})
    assert before - {gone} < one.members()
    assert len(one.members()) == 16


def test_over_time_every_peer_has_been_a_member_and_none_for_ever() -> None:
    one = pool(NAMES)
    first, seen = one.members(), set(one.members())
    for _ in range(3000):
        one.renew()
        seen |= one.members()
        assert len(one.members()) == 16
    assert seen == set(NAMES)
    assert one.members() != first


def test_a_pool_of_all_peers_exchanges_none() -> None:
    one = pool(NAMES[:16])
    one.renew()
    assert one.members() == set(NAMES[:16])


def test_partners_that_are_published_are_members_whatever_chance_says() -> None:
    one = pool(NAMES)
    outside = sorted(set(NAMES) - one.members())[:3]
    one.favour([*outside, "unknown"])
    assert set(outside) < one.members()
    assert "unknown" not in one.members()
