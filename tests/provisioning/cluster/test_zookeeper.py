"""A short connection to a ZooKeeper that is not there."""

from __future__ import annotations

import pytest

from provisioning.cluster.zookeeper import connected
from tests.scripted_server import closed_port


def test_no_zookeeper_is_one_sentence() -> None:
    address = f"127.0.0.1:{closed_port()}"
    with (
        pytest.raises(LookupError, match=f"ZooKeeper {address} cannot be asked: Connection time-out"),
        connected(address, {}, LookupError, connect_s=0.2),
    ):
        pass
