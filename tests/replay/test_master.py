"""Which masters are refused before Spark starts, and where the driver listens."""

from __future__ import annotations

import socket
from functools import partial

import pytest

from replay.errors import MachineError
from replay.master import driver_address, explain_no_start


def test_a_cluster_without_a_master_is_one_sentence() -> None:
    """No port answers; the first of two hosts does not exist."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        driver_address(f"spark://nowhere.invalid:7077,127.0.0.1:{port}")
    with pytest.raises(MachineError, match=f"spark://127.0.0.1:{port}: no Spark master answers: "):
        driver_address(f"spark://127.0.0.1:{port}")


@pytest.mark.parametrize(
    ("master", "sentence"),
    [
        ("spark://127.0.0.1:x", "spark://127.0.0.1:x: x is no port"),
        ("spark://127.0.0.1:99999", "spark://127.0.0.1:99999: 99999 is no port"),
        ("spark://", "spark://: the host is missing"),
        ("here", "'here': no Spark master; one begins with local, spark://, yarn, k8s://"),
        ("", "'': no Spark master; one begins with local, spark://, yarn, k8s://"),
        ("yarn", "yarn: neither HADOOP_CONF_DIR nor YARN_CONF_DIR names Hadoop's configuration"),
    ],
)
def test_what_is_no_master_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, master: str, sentence: str
) -> None:
    for name in ("HADOOP_CONF_DIR", "YARN_CONF_DIR"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(MachineError) as refused:
        driver_address(master)
    assert str(refused.value) == sentence


def test_executors_of_a_cluster_can_reach_the_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    """It listens where the way to the master begins; with a local master on loopback."""
    assert driver_address("local[2]") == "127.0.0.1"
    with socket.create_server(("127.0.0.2", 0)) as server:
        # the kernel would choose the address of the other end, as both are this machine
        connect = partial(socket.create_connection, source_address=("127.0.0.3", 0))
        monkeypatch.setattr(socket, "create_connection", connect)
        assert driver_address(f"spark://127.0.0.2:{server.getsockname()[1]}") == "127.0.0.3"
    monkeypatch.setenv("YARN_CONF_DIR", "/etc/hadoop")
    assert driver_address("yarn") is None


def test_a_listener_that_is_no_master_is_named_as_such() -> None:
    """Spark itself only says that it is stopped."""
    message = "java.lang.IllegalStateException: Cannot call methods on a stopped SparkContext."
    assert explain_no_start("spark://h:1", message) == (
        "spark://h:1: something listens there but took no application within a minute: "
        "it is no Spark master, or one of another version"
    )
    assert explain_no_start("local[0]", "0 threads") == "Spark does not start with master local[0]: 0 threads"
