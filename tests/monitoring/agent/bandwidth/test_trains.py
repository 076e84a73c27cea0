"""Who may have a train measured, and what an agent makes of messages that are not for it."""

from __future__ import annotations

import random
from typing import Any

import pytest

from monitoring.agent.bandwidth.train_messages import (
    Ask,
    Grant,
    Result,
    decode,
    encode_ask,
    encode_grant,
    encode_result,
    encode_train,
)
from monitoring.agent.bandwidth.trains import TrainFigures, Trains
from monitoring.agent.probe import Malformed, Refusal

PEER, STRANGER = ("10.0.0.1", 7091), ("10.9.9.9", 7091)
ASK = encode_ask(Ask(5, 8))


def trains() -> Trains:
    """Those of an agent that sends none."""
    return Trains(lambda host: host == PEER[0], lambda _peer, _address: None, None)


def refusal(answer: Any) -> Refusal:
    assert isinstance(answer, Malformed), answer
    return answer.refusal


def test_a_stranger_gets_no_answer() -> None:
    assert refusal(trains().take(ASK, STRANGER, 0, 0.0)) is Refusal.STRANGER


def test_a_peer_gets_a_grant_and_a_result_back_to_where_it_asked_from() -> None:
    here = trains()
    answers = here.take(ASK, PEER, 0, 0.0)
    assert isinstance(answers, tuple)
    ((granted, to),) = answers
    grant = decode(granted)
    assert isinstance(grant, Grant)
    assert (grant.nonce, to, len(granted)) == (5, PEER, len(ASK))
    *before, last = (here.take(packet, PEER, 100 * k, 0.0) for k, packet in enumerate(encode_train(grant)))
    assert before == [()] * 7
    assert last == ((encode_result(Result(5, 8, 8, 0, 700, 100)), PEER),)
    assert here.figures() == TrainFigures(answered=1)


def test_while_a_train_is_expected_a_peer_gets_no_answer() -> None:
    here = trains()
    here.take(ASK, PEER, 0, 0.0)
    assert here.take(encode_ask(Ask(6, 8)), PEER, 0, 1.0) == ()


@pytest.mark.parametrize(
    "datagram",
    [
        encode_grant(Grant(5, 8, 7)),
        encode_train(Grant(5, 8, 7))[0],
        encode_result(Result(5, 8, 8, 0, 700, 100)),
    ],
    ids=["grant", "packet", "result"],
)
@pytest.mark.parametrize("share", [None, 0.05])
def test_what_was_not_asked_for_is_refused(datagram: bytes, share: float | None, log: Any) -> None:
    here = Trains.of_share(
        share, random.Random(1), log, knows=lambda _host: True, on_measured=lambda _peer, _address: None
    )
    assert refusal(here.take(datagram, PEER, 0, 0.0)) is Refusal.UNASKED


def test_what_cannot_be_read_is_refused() -> None:
    assert refusal(trains().take(ASK[:-1], PEER, 0, 0.0)) is Refusal.MALFORMED


def test_a_meter_is_there_only_with_a_share(log: Any) -> None:
    made = [
        Trains.of_share(
            share, random.Random(1), log, knows=lambda _host: True, on_measured=lambda _peer, _address: None
        )
        for share in (None, 0.05)
    ]
    assert [one.meter is None for one in made] == [True, False]
