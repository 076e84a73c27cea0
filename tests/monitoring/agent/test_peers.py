"""Rules of the choice of peers."""

from __future__ import annotations

import math
import random
from collections import Counter
from itertools import pairwise

import pytest

from monitoring.agent.pace import Pace
from monitoring.agent.peers import PeerChooser
from monitoring.zookeeper.peer_pool import PeerPool

NAMES = [f"h{n:02d}" for n in range(40)]


def distance_ms(peer: str) -> float:
    return float(peer[1:])


def choices(count: int, peers: list[str], seed: int = 0) -> list[str]:
    chooser = PeerChooser(random.Random(seed))
    chooser.update(peers)
    return [chooser.choose(distance_ms) for _ in range(count)]


def test_no_peer_is_chosen_while_none_is_known() -> None:
    assert choices(3, []) == ["", "", ""]


def test_each_of_few_peers_is_chosen_once_per_round() -> None:
    assert sorted(choices(5, NAMES[:5])) == NAMES[:5]


def test_near_peers_are_in_every_round_and_the_rest_of_it_changes() -> None:
    chosen = choices(80, NAMES)
    rounds = [chosen[n : n + 8] for n in range(0, 80, 8)]
    assert all({"h00", "h01"} <= set(one) and len(set(one)) == 8 for one in rounds)
    assert len({frozenset(one) for one in rounds}) == 10


def test_every_peer_has_its_turn_and_far_ones_stay_for_several_rounds() -> None:
    counts = Counter(choices(8 * 200, NAMES))
    assert set(counts) == set(NAMES)
    later_rounds = Counter(choices(8 * 30, NAMES, seed=3)[8 * 20 :])
    assert max(count for peer, count in later_rounds.items() if peer not in ("h00", "h01")) >= 5


def test_everybody_is_met_early() -> None:
    # 38 far peers, six others in each round
    assert set(choices(8 * 7, NAMES)) == set(NAMES)


def test_a_whole_pool_is_met_while_probes_still_follow_each_other_quickly() -> None:
    pool = PeerPool(random.Random(0))
    pool.update(f"h{number:03d}" for number in range(1000))
    pace = Pace(1.0, random.Random(0))
    quick = next(number for number in range(1000) if pace.next_delay_s(sent=True) > 0.5)
    assert set(choices(quick * 3 // 4, sorted(pool.members()))) == pool.members()


def test_a_peer_that_never_answers_has_its_turn_as_others_do() -> None:
    chooser = PeerChooser(random.Random(0))
    chooser.update(NAMES)
    chosen = [
        chooser.choose(lambda peer: math.inf if peer == "h20" else distance_ms(peer)) for _ in range(8 * 200)
    ]
    assert chosen.count("h20") <= 2 * chosen.count("h21")


def test_every_second_choice_is_a_partner_in_turn_wherever_it_is() -> None:
    chooser = PeerChooser(random.Random(0))
    chooser.update(NAMES)
    chooser.favour(["h30", "h01", "unknown"])
    chosen = [chooser.choose(distance_ms) for _ in range(96)]
    assert chosen[0::4] == [chosen[0]] * 24
    assert chosen[2::4] == [chosen[2]] * 24
    assert {chosen[0], chosen[2]} == {"h30", "h01"}
    others = chosen[1::2]
    rounds = [others[n : n + 8] for n in range(0, 48, 8)]
    # the nearest that are no partners, and six far ones
    assert all({"h00", "h02"} <= set(one) and len(set(one)) == 8 for one in rounds)
    assert {"h30", "h01"} <= chooser.members()


def largest_gaps(chosen: list[str], partners: list[str]) -> set[int]:
    """Return the most choices from one turn of each partner to its next, from the beginning to the end."""
    turns = ([n for n, peer in enumerate(chosen) if peer == partner] for partner in partners)
    return {max(after - before for before, after in pairwise([-1, *one, len(chosen)])) for one in turns}


@pytest.mark.parametrize("pace", [1, 3, 5, 30])
@pytest.mark.parametrize("change", ["pool", "partners"])
def test_partners_keep_their_turns_while_others_come_and_go(change: str, pace: int) -> None:
    # a pool loses and gains a member, or one more partner comes and goes; eight partners stay
    partners = [f"h{number:02d}" for number in range(10, 18)]
    chooser = PeerChooser(random.Random(0))
    chooser.update(NAMES)
    chooser.favour(partners)
    chosen = []
    for number in range(400):
        if change == "pool" and number % pace == 0:
            chooser.update(NAMES[: 30 + number // pace % 2])
        if change == "partners" and number % pace == 0:
            chooser.favour([*partners, "h05"][: 8 + number // pace % 2])
        chosen.append(chooser.choose(distance_ms))
    assert max(largest_gaps(chosen, partners)) <= 16 + 2 * (change == "partners")


def test_a_partner_that_was_away_has_its_turn_after_the_others() -> None:
    chooser = PeerChooser(random.Random(0))
    chooser.update(NAMES[:3])
    chooser.favour(NAMES[:3])
    assert [chooser.choose(distance_ms) for _ in range(2)] == ["h00", "h01"]
    chooser.update(NAMES[1:3])
    chooser.update(NAMES[:3])
    assert [chooser.choose(distance_ms) for _ in range(3)] == ["h02", "h01", "h00"]


def test_partners_alone_have_every_turn() -> None:
    chooser = PeerChooser(random.Random(0))
    chooser.favour(NAMES[:2])
    chooser.update(NAMES[:2])
    assert sorted(chooser.choose(distance_ms) for _ in range(6)) == ["h00"] * 3 + ["h01"] * 3


def test_a_partner_that_vanishes_is_no_longer_chosen() -> None:
    chooser = PeerChooser(random.Random(0))
    chooser.update(NAMES)
    chooser.favour(["h30"])
    chooser.update(NAMES[:20])
    assert "h30" not in {chooser.choose(distance_ms) for _ in range(50)}


def test_no_peer_counts_as_near_before_it_was_reached() -> None:
    first = set()
    for seed in range(10):
        chooser = PeerChooser(random.Random(seed))
        chooser.update(NAMES)
        first |= {chooser.choose(lambda _peer: math.inf) for _ in range(6)}
    assert len(first) > 20


def test_a_vanished_peer_is_named_and_never_chosen_again() -> None:
    chooser = PeerChooser(random.Random(0))
    chooser.update(NAMES[:6])
    chooser.choose(distance_ms)  # a round is under way
    chooser.update(NAMES[:4])
    assert {chooser.choose(distance_ms) for _ in range(50)} == set(NAMES[:4])


def test_the_seed_decides() -> None:
    assert choices(60, NAMES, seed=1) == choices(60, NAMES, seed=1) != choices(60, NAMES, seed=2)
