"""Checks the forms of options that several commands share: addresses of servers, paths in ZooKeeper."""

from __future__ import annotations

import re

_ENDPOINT = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):(\d{1,5})")
_PATH = re.compile(r"(/[A-Za-z0-9._-]+)+")


def is_endpoint(text: str) -> bool:
    """Say whether a text is `HOST:PORT` or `[IPV6]:PORT`."""
    match = _ENDPOINT.fullmatch(text)
    return match is not None and 0 < int(match.group(2)) < 65536


def is_path(text: str) -> bool:
    """Say whether a text is a path in ZooKeeper such as `/stormplace`; the root alone is none."""
    return _PATH.fullmatch(text) is not None
