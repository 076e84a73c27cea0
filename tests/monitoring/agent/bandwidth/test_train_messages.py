"""Messages of trains survive the wire, and nothing else is taken for one."""

from __future__ import annotations

import pytest

from monitoring.agent.bandwidth.train_messages import (
    LEAST_PACKETS,
    MOST_PACKETS,
    PACKET_BYTES,
    Ask,
    Grant,
    Packet,
    Result,
    decode,
    encode_ask,
    encode_grant,
    encode_result,
    encode_train,
    headers_bytes,
    is_of_train,
    talk_bytes,
    train_bytes,
)
from monitoring.agent.probe import Malformed, Probe, Refusal, encode_probe
from monitoring.agent.probe import decode as decode_probe

NONCE, TOKEN = 2**64 - 1, 2**63 + 5
GRANT = Grant(NONCE, LEAST_PACKETS, TOKEN)


def test_ask_grant_and_result_survive_their_bytes() -> None:
    ask, result = Ask(NONCE, MOST_PACKETS), Result(NONCE, 20, 19, 1, 157_000_000, 9_820_000)
    assert decode(encode_ask(ask)) == ask
    assert decode(encode_grant(GRANT)) == GRANT
    assert decode(encode_result(result)) == result


def test_a_train_has_all_its_packets_in_order_and_of_one_length() -> None:
    train = encode_train(GRANT)
    assert [decode(each) for each in train] == [Packet(NONCE, TOKEN, k) for k in range(LEAST_PACKETS)]
    assert {len(each) for each in train} == {PACKET_BYTES}


def test_no_answer_is_longer_than_what_was_sent_for_it() -> None:
    assert len(encode_grant(GRANT)) == len(encode_ask(Ask(1, LEAST_PACKETS)))
    assert len(encode_result(Result(1, 8, 8, 0, 7, 1))) < PACKET_BYTES


@pytest.mark.parametrize(("host", "headers"), [("10.0.0.1", 28), ("2001:db8::1", 48)])
def test_bytes_count_with_the_headers_of_the_address(host: str, headers: int) -> None:
    assert headers_bytes(host) == headers
    assert train_bytes(10, host) == 10 * (1_200 + headers)
    talk = (encode_ask(Ask(1, 8)), encode_grant(GRANT), encode_result(Result(1, 8, 8, 0, 7, 1)))
    assert talk_bytes(host) == sum(len(each) + headers for each in talk)


ASK = encode_ask(Ask(NONCE, LEAST_PACKETS))


@pytest.mark.parametrize(
    ("datagram", "refusal"),
    [
        (b"", Refusal.MALFORMED),
        (ASK[:-1], Refusal.MALFORMED),
        (ASK + b"\0", Refusal.MALFORMED),
        (b"SPPR" + ASK[4:], Refusal.MALFORMED),
        (ASK[:5] + b"\x05" + ASK[6:], Refusal.MALFORMED),
        (ASK[:5] + b"\0" + ASK[6:], Refusal.MALFORMED),
        (ASK[:4] + b"\x02" + ASK[5:], Refusal.VERSION),
        (encode_ask(Ask(1, LEAST_PACKETS - 1)), Refusal.IMPOSSIBLE),
        (encode_ask(Ask(1, MOST_PACKETS + 1)), Refusal.IMPOSSIBLE),
        (encode_train(GRANT)[0][:-1], Refusal.MALFORMED),
    ],
)
def test_what_is_no_message_is_refused_by_kind(datagram: bytes, refusal: Refusal) -> None:
    message = decode(datagram)
    assert isinstance(message, Malformed)
    assert message.refusal is refusal


def test_probes_and_trains_are_never_taken_for_each_other() -> None:
    """An agent of before refuses an ask and a packet as it refuses any noise."""
    assert is_of_train(ASK)
    assert not is_of_train(encode_probe(Probe(1, 5)))
    for datagram in (ASK, encode_train(GRANT)[0]):
        message = decode_probe(datagram)
        assert isinstance(message, Malformed)
        assert message.refusal is Refusal.MALFORMED
