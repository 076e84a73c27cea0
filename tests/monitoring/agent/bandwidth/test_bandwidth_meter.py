"""An agent learns what its paths carry, within its share of the narrowest one."""

from __future__ import annotations

import random
from typing import Any

import pytest

from monitoring.agent.bandwidth.bandwidth_meter import (
    CAUTIOUS_BYTES_PER_S,
    LEAST_SHARE,
    BandwidthMeter,
    TrainEnd,
)
from monitoring.agent.bandwidth.train_messages import (
    LEAST_PACKETS,
    MOST_PACKETS,
    Ask,
    Grant,
    Result,
    decode,
    talk_bytes,
    train_bytes,
)
from monitoring.agent.bandwidth.train_receiver import TIMEOUT_S
from monitoring.agent.bandwidth.train_targets import Destination
from monitoring.reading import Address, Link
from tests.monitoring.agent.bandwidth.narrow_path import Path, Scene

SHARE = 0.05
LINK = Link(10.0, 1.0, 1.0, 5, 0.0, 1.0)
MBIT = 125_000.0


def published(scene: Scene, *peers: str) -> dict[str, float | None]:
    links = scene.meter.add_to(dict.fromkeys(peers, LINK), scene.now_s)
    return {peer: link.bandwidth and link.bandwidth.bytes_per_s for peer, link in links.items()}


def test_each_path_is_known_after_a_minute_and_a_half(log: Any) -> None:
    """1, 10 and 50 Mbit/s, as in `lab/sites/narrow.toml`; the log says so once for each."""
    scene = Scene(SHARE, {"edge": Path(MBIT), "fog": Path(10 * MBIT), "near": Path(50 * MBIT)}, log)
    scene.run(90.0)
    found = published(scene, "edge", "fog", "near", "cloud")
    assert found.pop("cloud") is None
    assert found == pytest.approx({"edge": MBIT, "fog": 10 * MBIT, "near": 50 * MBIT}, rel=1e-3)
    assert sorted(fields["peer"] for event, fields in log.events if event == "bandwidth-known") == [*found]
    assert set(scene.measured) == {*found}


@pytest.mark.parametrize("share", [LEAST_SHARE, 0.01, SHARE, 0.1])
@pytest.mark.parametrize("narrowest", [0.5 * MBIT, MBIT, 100 * MBIT])
def test_no_minute_has_more_than_the_share_of_1_mbit(log: Any, share: float, narrowest: float) -> None:
    """Asks and what comes back included; wider paths do not raise it."""
    scene = Scene(share, {"wide": Path(1000 * MBIT), "narrow": Path(narrowest), "dead": None}, log)
    scene.run(900.0)
    assert scene.meter.ends[TrainEnd.COUNTED] > 0
    assert scene.busiest_minute() <= share * CAUTIOUS_BYTES_PER_S * 60


@pytest.mark.parametrize("narrowest", [0.2 * MBIT, 0.5 * MBIT, 0.9 * MBIT])
def test_once_a_narrower_path_is_known_no_minute_has_more_than_the_share_of_that(
    log: Any, narrowest: float
) -> None:
    scene = Scene(SHARE, {"wide": Path(1000 * MBIT), "narrow": Path(narrowest)}, log)
    scene.run(180.0)
    assert published(scene, "narrow") == {"narrow": pytest.approx(narrowest, rel=1e-3)}
    scene.sent.clear()
    scene.run(900.0)
    assert 0 < scene.busiest_minute() <= SHARE * narrowest * 60


def test_what_is_counted_as_sent_is_what_was_sent(log: Any) -> None:
    scene = Scene(SHARE, {"edge": Path(MBIT)}, log)
    scene.run(300.0)
    assert scene.meter.ends == {TrainEnd.COUNTED: scene.meter.ends[TrainEnd.COUNTED]}
    assert scene.meter.sent_bytes == sum(size for _, size in scene.sent)


def test_trains_that_lose_packets_count_for_nothing(log: Any) -> None:
    """One packet in twenty is lost: the others are enough."""
    rng = random.Random(3)
    scene = Scene(SHARE, {"fog": Path(10 * MBIT, lambda: rng.random() < 0.05)}, log)
    scene.run(600.0)
    assert scene.meter.ends[TrainEnd.DISCARDED] > 3
    assert published(scene, "fog") == {"fog": pytest.approx(10 * MBIT, rel=1e-3)}


def test_a_path_that_always_loses_is_left_alone_and_not_published(log: Any) -> None:
    scene = Scene(SHARE, {"fog": Path(MBIT, lambda: True)}, log)
    scene.run(1_800.0)
    assert published(scene, "fog") == {"fog": None}
    assert scene.meter.ends == {TrainEnd.DISCARDED: scene.meter.ends[TrainEnd.DISCARDED]}
    assert 5 <= scene.meter.ends[TrainEnd.DISCARDED] <= 12


def test_an_agent_that_knows_no_trains_gets_a_few_asks_and_nothing_more(log: Any) -> None:
    scene = Scene(SHARE, {"old": None}, log)
    scene.run(3_600.0)
    assert scene.meter.ends == {TrainEnd.REFUSED: len(scene.sent)}
    assert len(scene.sent) <= 16
    assert max(size for _, size in scene.sent) < 100


def test_a_share_too_small_for_a_train_is_logged_once(log: Any) -> None:
    """A path of 100 kbit/s: no minute has room for eight packets."""
    scene = Scene(0.01, {"edge": Path(0.1 * MBIT)}, log)
    scene.run(1_000.0)
    assert log.names().count("trains-unaffordable") == 1
    assert published(scene, "edge") == {"edge": None}
    assert scene.meter.ends[TrainEnd.COUNTED] == 2


def test_the_least_share_has_room_for_the_shortest_train_to_any_address() -> None:
    room = LEAST_SHARE * CAUTIOUS_BYTES_PER_S * 60
    assert train_bytes(LEAST_PACKETS, "2001:db8::1") + talk_bytes("2001:db8::1") <= room


class Asked:
    """A meter that has just asked its only peer, at 100 s."""

    def __init__(self, log: Any) -> None:
        self.peers = {"p": Destination("far", Address("10.0.0.9", 7091))}
        self.meter = BandwidthMeter(SHARE, random.Random(1), log)
        assert self.meter.turn(self.peers, 0.0) is None
        asked = self.meter.turn(self.peers, 100.0)
        assert asked is not None
        ask = decode(asked[0])
        assert isinstance(ask, Ask)
        self.grant = Grant(ask.nonce, ask.packets, 7)
        self.result = Result(ask.nonce, ask.packets, ask.packets, 0, 88_416_000, 9_824_000)


def test_a_path_of_unknown_width_gets_a_train_of_a_tenth_of_a_second_at_1_mbit(log: Any) -> None:
    asked = Asked(log)
    packets, address = asked.meter.take_grant(asked.grant, 100.0)
    assert LEAST_PACKETS < len(packets) == 10 < MOST_PACKETS
    assert address == Address("10.0.0.9", 7091)


def test_after_a_failure_the_next_train_is_a_short_one(log: Any) -> None:
    """Its packets are the fewer to be lost."""
    asked = Asked(log)
    assert asked.meter.turn(asked.peers, 100.0 + TIMEOUT_S) is None
    again = asked.meter.turn(asked.peers, 130.0)
    assert again is not None
    ask = decode(again[0])
    assert isinstance(ask, Ask)
    assert ask.packets == LEAST_PACKETS < asked.grant.packets


def test_while_a_train_is_under_way_no_other_one_begins(log: Any) -> None:
    asked = Asked(log)
    assert asked.meter.turn(asked.peers, 100.0 + TIMEOUT_S - 0.1) is None
    assert asked.meter.ends == {}
    asked.meter.turn(asked.peers, 100.0 + TIMEOUT_S)
    assert asked.meter.ends == {TrainEnd.REFUSED: 1}


def test_forged_repeated_and_late_grants_send_nothing(log: Any) -> None:
    asked = Asked(log)
    with pytest.raises(ValueError, match="another train"):
        asked.meter.take_grant(Grant(asked.grant.nonce ^ 1, asked.grant.packets, 7), 100.0)
    with pytest.raises(ValueError, match="another train"):
        asked.meter.take_grant(Grant(asked.grant.nonce, asked.grant.packets + 1, 7), 100.0)
    with pytest.raises(ValueError, match="not asked for"):
        asked.meter.take_grant(asked.grant, 100.0 + TIMEOUT_S)
    asked.meter.take_grant(asked.grant, 100.0)
    with pytest.raises(ValueError, match="not asked for"):
        asked.meter.take_grant(asked.grant, 100.0)


def test_forged_repeated_early_and_late_results_teach_nothing(log: Any) -> None:
    asked = Asked(log)
    with pytest.raises(ValueError, match="no train under way"):
        asked.meter.take_result(asked.result, 100.0)
    asked.meter.take_grant(asked.grant, 100.0)
    with pytest.raises(ValueError, match="another train"):
        asked.meter.take_result(Result(asked.result.nonce ^ 1, 10, 10, 0, 9, 1), 100.1)
    with pytest.raises(ValueError, match="no train under way"):
        asked.meter.take_result(asked.result, 100.0 + TIMEOUT_S)
    assert asked.meter.take_result(asked.result, 100.1) == ("p", Address("10.0.0.9", 7091))
    with pytest.raises(ValueError, match="no train under way"):
        asked.meter.take_result(asked.result, 100.1)


@pytest.mark.parametrize(("arrived", "disordered", "gap_ns"), [(9, 0, 5), (10, 1, 5), (10, 0, 0)])
def test_a_train_that_arrived_otherwise_than_it_left_is_discarded(
    log: Any, arrived: int, disordered: int, gap_ns: int
) -> None:
    asked = Asked(log)
    asked.meter.take_grant(asked.grant, 100.0)
    nonce = asked.result.nonce
    assert asked.meter.take_result(Result(nonce, 10, arrived, disordered, 9 * gap_ns, gap_ns), 100.1) is None
    assert asked.meter.ends == {TrainEnd.DISCARDED: 1}
