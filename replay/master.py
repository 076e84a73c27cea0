"""The Spark master: whether one answers, and at which address its executors reach this process."""

from __future__ import annotations

import os
import socket

from replay.errors import MachineError

_LOOPBACK = "127.0.0.1"
_STANDALONE = "spark://"
_LOCAL = "local"
_YARN = "yarn"
_YARN_SETTINGS = ("HADOOP_CONF_DIR", "YARN_CONF_DIR")
_MASTERS = (_LOCAL, _STANDALONE, _YARN, "k8s://")
_DEFAULT_PORT = 7077
_HIGHEST_PORT = 65_535
_ANSWER_S = 5.0
_GAVE_UP = "stopped SparkContext"
"""Spark gives up a standalone master in its log only, and fails when the context is used."""


def driver_address(master: str) -> str | None:
    """Return where the driver is to listen; refuse what is no master, or a standalone one that is not there.

    With a local master no other process has to reach the driver. Executors of a standalone one do: they are
    where its master lies, so the driver listens at the address that this machine has on the way there.

    Args:
        master: Spark master URL; other kinds than `spark://HOST:PORT,...` are not asked.

    Returns:
        An address of this machine, or None where Spark has to find one by itself.

    Raises:
        MachineError: It is none, or none of the standalone masters takes a connection within 5 seconds.
    """
    if not master.startswith(_MASTERS):
        raise MachineError(f"{master!r}: no Spark master; one begins with {', '.join(_MASTERS)}")
    if master.startswith(_LOCAL):
        return _LOOPBACK
    if master == _YARN and not any(os.environ.get(name) for name in _YARN_SETTINGS):
        raise MachineError(f"{master}: neither {' nor '.join(_YARN_SETTINGS)} names Hadoop's configuration")
    if not master.startswith(_STANDALONE):
        return None
    reason = ""
    for address in master.removeprefix(_STANDALONE).split(","):
        host, _, port = address.partition(":")
        if port and not (port.isdecimal() and int(port) <= _HIGHEST_PORT):
            raise MachineError(f"{master}: {port} is no port")
        if not host:
            raise MachineError(f"{master}: the host is missing")
        try:
            with socket.create_connection(
                (host, int(port or _DEFAULT_PORT)), timeout=_ANSWER_S
            ) as connection:
                return str(connection.getsockname()[0])
        except OSError as error:
            reason = error.strerror or str(error)
    raise MachineError(f"{master}: no Spark master answers: {reason}")


def explain_no_start(master: str, cause: str) -> str:
    """Say why there is no session, given the cause that Spark names."""
    if master.startswith(_STANDALONE) and _GAVE_UP in cause:
        return (
            f"{master}: something listens there but took no application within a minute: "
            "it is no Spark master, or one of another version"
        )
    return f"Spark does not start with master {master}: {cause}"
