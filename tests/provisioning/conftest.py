"""Real servers for tests of provisioning."""

from __future__ import annotations

from tests.monitoring.conftest import zookeeper
from tests.topologies.conftest import redis_server

__all__ = ("redis_server", "zookeeper")
