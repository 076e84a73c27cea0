"""Each other site has its turn, by one peer that is measured again and again while it answers."""

from __future__ import annotations

import random
from collections import Counter

from monitoring.agent.bandwidth.bandwidth_estimates import LEAST_TRAINS
from monitoring.agent.bandwidth.train_targets import Destination, TrainTargets
from monitoring.reading import Address

PEERS = {
    f"{site}-{number}": Destination(site, Address("10.0.0.1", number))
    for site in ("fog", "edge")
    for number in (1, 2, 3)
}


class Sender:
    """Sends whenever somebody is due; peers in `deaf` never let a train count."""

    def __init__(self, *deaf: str) -> None:
        self.targets = TrainTargets(random.Random(1))
        self.deaf = deaf
        self.now_s = 0.0
        self.counted: Counter[str] = Counter()
        self.sent: list[tuple[float, str]] = []

    def run(self, until_s: float) -> None:
        while True:
            chosen = self.targets.choose(self.now_s, PEERS, lambda peer: self.counted[peer])
            assert chosen is not None
            peer, due_s = chosen
            if due_s > until_s:
                return
            self.now_s = max(self.now_s, due_s)
            self.sent.append((self.now_s, peer))
            if peer in self.deaf:
                self.targets.note_failed(peer, self.now_s)
            else:
                self.counted[peer] += 1
                self.targets.note_counted(peer, self.counted[peer], self.now_s)


def test_without_peers_nobody_is_chosen() -> None:
    assert TrainTargets(random.Random(1)).choose(0.0, {}, lambda _peer: 0) is None


def test_one_peer_of_each_site_gets_an_estimate_soon() -> None:
    sender = Sender()
    sender.run(15.0)
    assert sorted(PEERS[peer].site for peer in sender.counted) == ["edge", "fog"]
    assert min(sender.counted.values()) >= LEAST_TRAINS


def test_afterwards_trains_are_rare() -> None:
    """One to each site in half a minute."""
    sender = Sender()
    sender.run(15.0)
    before = len(sender.sent)
    sender.run(615.0)
    assert 2 * 16 <= len(sender.sent) - before <= 2 * 26


def test_of_a_site_the_peer_with_most_trains_goes_on() -> None:
    """Whoever of the site it is, and whoever else answers now."""
    fog = [peer for peer, there in PEERS.items() if there.site == "fog"]
    for measured in fog:
        targets = TrainTargets(random.Random(1))
        chosen = targets.choose(0.0, {peer: PEERS[peer] for peer in fog}, Counter((measured,)).__getitem__)
        assert chosen is not None
        assert chosen[0] == measured


def test_a_peer_that_is_away_for_an_hour_begins_anew() -> None:
    targets = TrainTargets(random.Random(1))
    targets.choose(0.0, PEERS, lambda _peer: 0)
    targets.note_failed("fog-1", 0.0)
    targets.choose(3_000.0, {}, lambda _peer: 0)
    targets.choose(3_000.0, PEERS, lambda _peer: 0)
    assert targets.failures("fog-1") == 1
    targets.choose(4_000.0, {}, lambda _peer: 0)
    targets.choose(4_000.0, PEERS, lambda _peer: 0)
    assert targets.failures("fog-1") == 0


def test_a_peer_that_does_not_answer_gives_its_turn_to_another_of_its_site() -> None:
    first = Sender()
    first.run(15.0)
    chosen = next(peer for peer in first.counted if PEERS[peer].site == "fog")
    sender = Sender(chosen)
    sender.run(60.0)
    assert max(sender.counted[peer] for peer in PEERS if PEERS[peer].site == "fog") >= LEAST_TRAINS


def test_a_site_that_never_answers_is_asked_ever_more_rarely() -> None:
    """Each peer of it after 5, 10, 20 ... 600 s, the others are not held up."""
    sender = Sender(*(peer for peer in PEERS if PEERS[peer].site == "edge"))
    sender.run(3_600.0)
    asked_s = [at_s for at_s, peer in sender.sent if peer == "edge-1"]
    assert 8 <= len(asked_s) <= 16
    assert 480 <= asked_s[-1] - asked_s[-2] <= 720
    assert sum(count for peer, count in sender.counted.items() if PEERS[peer].site == "fog") > 100


def test_a_train_that_counts_ends_a_row_of_failures() -> None:
    targets = TrainTargets(random.Random(1))
    targets.choose(0.0, PEERS, lambda _peer: 0)
    targets.note_failed("fog-1", 0.0)
    targets.note_failed("fog-1", 0.0)
    assert targets.failures("fog-1") == 2
    targets.note_counted("fog-1", 1, 0.0)
    assert targets.failures("fog-1") == 0
