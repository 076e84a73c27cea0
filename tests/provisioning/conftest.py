"""Real servers for tests of provisioning."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.monitoring.conftest import zookeeper
from tests.provisioning.kafka.kafka_server import KafkaServer
from tests.topologies.conftest import redis_server

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ("redis_server", "zookeeper")


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaServer]:
    """One Kafka for all tests; each has topics and groups of its own."""
    server = KafkaServer(tmp_path_factory.mktemp("kafka"))
    server.start()
    yield server
    server.stop()
