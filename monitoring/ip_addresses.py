"""Says which IP addresses other hosts can send to."""

from __future__ import annotations

import ipaddress


def fault(host: str) -> str:
    """Say in a few words why other hosts cannot send to an address; empty if they can.

    Args:
        host: Text of the address.
    """
    try:
        address = _parse(host)
    except ValueError:
        return "is no numeric IP address"
    if "%" in host:  # a name of an interface; moreover any text may follow, and not all of it can be sent to
        return "names a zone, which only its own host knows"
    if address.is_unspecified or address.is_multicast:
        return "is no address of one host"
    return ""


def is_loopback(host: str) -> bool:
    """Say whether a host that sends to a numeric address sends to itself."""
    return _parse(host).is_loopback


def _parse(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    address = ipaddress.ip_address(host)
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address
