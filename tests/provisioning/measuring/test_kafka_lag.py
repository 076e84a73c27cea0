"""What waits at a real Kafka."""

from __future__ import annotations

import socket
import threading
from typing import TYPE_CHECKING

import pytest
from kafka import TopicPartition
from requests.certs import where

from provisioning.measuring.kafka_lag import KafkaLagSettings
from provisioning.measuring.lag import AtSource, LagError, LagReader
from tests.scripted_server import closed_port

if TYPE_CHECKING:
    from tests.provisioning.kafka.kafka_server import KafkaServer


def reader(address: str, *topics: str, **settings: object) -> LagReader:
    table = {"kind": "kafka", "bootstrap": [address], "topics": topics, "group": "taxi", **settings}
    return KafkaLagSettings.model_validate(table).reader()


def test_what_a_group_has_not_committed_waits_in_all_partitions_of_all_topics(kafka: KafkaServer) -> None:
    kafka.make("trips", 3)
    kafka.make("ticks", 1)
    kafka.put("trips", 0, 5)
    kafka.put("trips", 2, 7)
    kafka.put("ticks", 0, 2)
    both = reader(kafka.address, "trips", "ticks")
    assert both.lag() == AtSource(14.0, 14.0)
    kafka.take("trips", 2, 4)
    kafka.take("trips", 0, 5, "others")
    assert both.lag() == AtSource(10.0, 14.0)
    assert reader(kafka.address, "trips").lag() == AtSource(8.0, 12.0)


def test_a_spout_that_begins_with_the_latest_has_what_came_since(kafka: KafkaServer) -> None:
    """A commit says from then on where it is."""
    kafka.make("late", 1)
    kafka.put("late", 0, 5)
    late = reader(kafka.address, "late", first_poll="latest")
    assert late.lag() == AtSource(0.0, 5.0)
    kafka.put("late", 0, 3)
    assert late.lag() == AtSource(3.0, 8.0)
    kafka.take("late", 0, 7)
    assert late.lag() == AtSource(1.0, 8.0)


def test_a_commit_of_what_is_deleted_is_none(kafka: KafkaServer) -> None:
    """Consumers then begin with what is left."""
    kafka.make("deleted", 1)
    kafka.put("deleted", 0, 9)
    kafka.take("deleted", 0, 1)
    admin = kafka.admin()
    admin.delete_records({TopicPartition("deleted", 0): 6})
    admin.close()
    assert reader(kafka.address, "deleted").lag() == AtSource(3.0, 9.0)


def test_a_missing_topic_is_named(kafka: KafkaServer) -> None:
    kafka.make("there", 1)
    with pytest.raises(LagError, match=r"group taxi, topic missing: .* does not exist"):
        reader(kafka.address, "there", "missing").lag()


def secured(kafka: KafkaServer, **other: str) -> dict[str, str]:
    return {
        "security_protocol": "SASL_SSL",
        "ssl_cafile": str(kafka.certificate),
        "sasl_mechanism": "PLAIN",
        "sasl_plain_username": "taxi",
        "sasl_plain_password": "secret",
        **other,
    }


def test_one_that_asks_for_a_password_by_tls(kafka: KafkaServer) -> None:
    kafka.make("secret", 1)
    kafka.put("secret", 0, 4)
    assert reader(kafka.secure, "secret", security=secured(kafka)).lag() == AtSource(4.0, 4.0)


@pytest.mark.parametrize(
    ("security", "why"),
    [({"sasl_plain_password": "wrong"}, ""), ({"ssl_cafile": where()}, "CERTIFICATE_VERIFY_FAILED")],
    ids=["password", "certificate"],
)
def test_one_that_does_not_let_in_is_one_sentence(
    kafka: KafkaServer, security: dict[str, str], why: str
) -> None:
    """With its reason; one that refuses a password may take too long to say so."""
    with pytest.raises(LagError, match=rf"^Kafka {kafka.secure}, group taxi: .*{why}") as refused:
        reader(kafka.secure, "secret", security=secured(kafka, **security)).lag()
    assert "\n" not in str(refused.value)


def test_files_that_are_none_are_named() -> None:
    with pytest.raises(ValueError, match=r"ssl_cafile: /nowhere\.pem is no file"):
        reader("127.0.0.1:1", "trips", security={"ssl_cafile": "/nowhere.pem"})


def test_no_kafka_is_one_sentence_and_leaves_nothing_behind() -> None:
    before = set(threading.enumerate())
    address = f"127.0.0.1:{closed_port()}"
    with pytest.raises(
        LagError, match=f"^Kafka {address}, group taxi: .*Unable to bootstrap.*; .*ECONNREFUSED"
    ):
        reader(address, "trips").lag()
    assert not [each for each in set(threading.enumerate()) - before if each.name.startswith("kafka")]


def test_one_that_takes_connections_and_says_nothing_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(LagError, match="group taxi: "):
            reader(address, "trips").lag()


def test_the_next_broker_is_asked_where_one_is_silent(kafka: KafkaServer) -> None:
    kafka.make("asked", 1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        assert reader(address, "asked", bootstrap=[address, kafka.address]).lag() == AtSource(0.0, 0.0)


def test_a_call_without_an_end_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as a look-up of a name."""
    never = threading.Event()
    one = reader("127.0.0.1:1", "trips")
    monkeypatch.setattr("provisioning.measuring.kafka_lag._TIMEOUT_S", 0.01)
    monkeypatch.setattr(type(one), "_ask", lambda _: never.wait())
    with pytest.raises(LagError, match="no answer within"):
        one.lag()
    never.set()
