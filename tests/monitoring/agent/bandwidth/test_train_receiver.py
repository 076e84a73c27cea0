"""A receiver allows one train at a time, at a bounded rate, and says how its packets came."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from monitoring.agent.bandwidth.train_messages import Ask, Grant, Packet, Result
from monitoring.agent.bandwidth.train_receiver import PAUSE_S, TIMEOUT_S, TrainReceiver

if TYPE_CHECKING:
    from collections.abc import Iterable

SENDER, OTHER = ("10.0.0.1", 7091), ("10.0.0.2", 7091)
PACKETS = 8


def granted(receiver: TrainReceiver, now_s: float = 0.0) -> Grant:
    grant = receiver.take_ask(Ask(5, PACKETS), SENDER, now_s)
    assert grant is not None
    return grant


def arrive(receiver: TrainReceiver, grant: Grant, positions: Iterable[int]) -> list[Result | None]:
    """Packets in this order, 10 ms apart."""
    return [
        receiver.take_packet(Packet(5, grant.token, position), SENDER, 7 + k * 10_000_000, 0.1)
        for k, position in enumerate(positions)
    ]


def test_the_last_packet_brings_the_result() -> None:
    receiver = TrainReceiver()
    *before, last = arrive(receiver, granted(receiver), range(PACKETS))
    assert before == [None] * (PACKETS - 1)
    assert last == Result(5, PACKETS, PACKETS, 0, 70_000_000, 10_000_000)


@pytest.mark.parametrize(
    ("positions", "arrived", "disordered"),
    [
        ((0, 1, 2, 4, 5, 6, 7), 7, 0),
        ((1, 2, 3, 4, 5, 6, 7), 7, 0),
        ((0, 1, 2, 4, 3, 5, 6, 7), 7, 1),
        ((0, 0, 1, 2, 3, 4, 5, 6, 7), 8, 1),
        ((0, 4, 2, 3, 5, 6, 7), 5, 2),
        ((7,), 1, 0),
    ],
)
def test_losses_and_disorder_show(positions: tuple[int, ...], arrived: int, disordered: int) -> None:
    receiver = TrainReceiver()
    result = arrive(receiver, granted(receiver), positions)[-1]
    assert result is not None
    assert (result.arrived, result.disordered) == (arrived, disordered)


def test_a_second_train_waits_until_the_first_is_over() -> None:
    """Whoever asks meanwhile gets nothing."""
    receiver = TrainReceiver()
    granted(receiver)
    assert receiver.take_ask(Ask(6, PACKETS), OTHER, TIMEOUT_S - 0.1) is None
    assert receiver.take_ask(Ask(6, PACKETS), OTHER, TIMEOUT_S) is not None


def test_trains_are_allowed_at_a_bounded_rate() -> None:
    receiver = TrainReceiver()
    assert arrive(receiver, granted(receiver), range(PACKETS))[-1] is not None
    assert receiver.take_ask(Ask(6, PACKETS), OTHER, PAUSE_S - 0.1) is None
    assert receiver.take_ask(Ask(6, PACKETS), OTHER, PAUSE_S) is not None


def test_a_packet_counts_with_the_token_from_the_one_who_got_it_in_time_and_within_the_train() -> None:
    receiver = TrainReceiver()
    with pytest.raises(ValueError, match="no train"):
        receiver.take_packet(Packet(5, 1, 0), SENDER, 0, 0.0)
    grant = granted(receiver)
    with pytest.raises(ValueError, match="no train"):
        receiver.take_packet(Packet(5, grant.token ^ 1, 0), SENDER, 0, 0.0)
    with pytest.raises(ValueError, match="no train"):
        receiver.take_packet(Packet(5, grant.token, 0), OTHER, 0, 0.0)
    with pytest.raises(ValueError, match="late or beyond"):
        receiver.take_packet(Packet(5, grant.token, 0), SENDER, 0, TIMEOUT_S)
    with pytest.raises(ValueError, match="late or beyond"):
        receiver.take_packet(Packet(5, grant.token, PACKETS), SENDER, 0, 0.0)
    assert arrive(receiver, grant, range(PACKETS))[-1] is not None


def test_the_median_gap_shows_what_is_usual_in_a_train() -> None:
    """Its first packets came at once."""
    receiver = TrainReceiver()
    grant = granted(receiver)
    arrivals_ns = (900, 905, 907, 1000, 1100, 1200, 1300, 1400)
    *_, result = (
        receiver.take_packet(Packet(5, grant.token, position), SENDER, at_ns, 0.1)
        for position, at_ns in enumerate(arrivals_ns)
    )
    assert result == Result(5, PACKETS, PACKETS, 0, 500, 100)


def test_a_clock_that_is_set_back_within_a_train_makes_it_worthless() -> None:
    receiver = TrainReceiver()
    grant = granted(receiver)
    *_, result = (
        receiver.take_packet(Packet(5, grant.token, position), SENDER, at_ns, 0.1)
        for position, at_ns in enumerate((100, 200, 300, 50, 150, 250, 350, 450))
    )
    assert result == Result(5, PACKETS, PACKETS, 0, 0, 0)


def test_tokens_cannot_be_guessed_from_earlier_ones() -> None:
    receiver = TrainReceiver()
    tokens = {granted(receiver, 10.0 * k).token for k in range(50)}
    assert len(tokens) == 50
