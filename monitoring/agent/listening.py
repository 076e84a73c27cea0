"""Finds the TCP ports of this host, in its network namespace, on which a process listens.

Read from the kernel's own table: psutil's list of connections also looks for the process behind each socket,
which means every open file of every process and takes longer than all else that an agent does.
"""

from __future__ import annotations

from pathlib import Path

_TABLES = (Path("/proc/self/net/tcp"), Path("/proc/self/net/tcp6"))
_LISTEN = "0A"


def listening_ports(tables: tuple[Path, ...] = _TABLES) -> frozenset[int] | None:
    """Return the ports; None on a system without such tables.

    Args:
        tables: Files in the form of Linux' /proc/net/tcp; those that are not there count as empty.
    """
    ports = set()
    found = False
    for table in tables:
        try:
            lines = table.read_text(encoding="ascii").splitlines()[1:]
        except FileNotFoundError:  # such as IPv6, switched off
            continue
        found = True
        for line in lines:
            _, local, _, state, *_ = line.split(maxsplit=4)
            if state == _LISTEN:
                ports.add(int(local.rpartition(":")[2], 16))
    return frozenset(ports) if found else None
