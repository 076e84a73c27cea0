"""What is filled into arguments of commands: `{host}`, `{request}`, `{offer}`, `{lease}`, `{instance}`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from provisioning.providers.entry import Entry

NAMES = ("host", "request", "offer", "lease", "instance")
_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")


def placeholders(arguments: Iterable[str]) -> set[str]:
    """Return the names between braces; other uses of braces, as in JSON, are left alone."""
    return {name for each in arguments for name in _PLACEHOLDER.findall(each)}


def filled(arguments: Sequence[str], entry: Entry) -> list[str]:
    """Return the arguments with what they ask for; they stay as many, whatever the values are.

    Args:
        arguments: Of a command, their names among `NAMES`.
        entry: The lease.
    """
    values = {
        "host": entry.host,
        "request": entry.request,
        "offer": entry.offer,
        "lease": entry.lease_id,
        "instance": entry.instance,
    }
    return [_PLACEHOLDER.sub(lambda found: values[found[1]], each) for each in arguments]
