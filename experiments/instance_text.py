"""Instance files as text: rounded, one operator, stream, node or matrix row per line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

ROUNDED = {
    "execution_time_ms": 3,
    "rate": 3,
    "tuple_bytes": 3,
    "availability": 7,
    "delay_ms": 4,
    "coordinates": 4,
}
"""Decimals by key; more only make files larger."""
ROUNDED_SECTIONS = ("application", "network")


def instance_text(document: dict[str, Any], decimals: Mapping[str, int] = ROUNDED) -> str:
    """Return an instance document as readable JSON; its rounded values are the instance from now on.

    Args:
        document: As `scheduler.instances.writing.to_document` returns it.
        decimals: To which numbers are rounded, by key; those of other keys are written as they are.
    """
    sections = [
        _section(key, _rounded(value, key, decimals) if key in ROUNDED_SECTIONS else value)
        for key, value in document.items()
    ]
    return "{\n" + ",\n".join(sections) + "\n}\n"


def _section(key: str, entries: dict[str, Any]) -> str:
    inner = ",\n".join(f'    "{name}": {_entry(value)}' for name, value in entries.items())
    return f'  "{key}": {{\n{inner}\n  }}'


def _entry(value: object) -> str:
    if not isinstance(value, list):
        return json.dumps(value)
    lines = ",\n".join(f"      {json.dumps(line)}" for line in value)
    return f"[\n{lines}\n    ]"


def _rounded(value: Any, key: str, decimals: Mapping[str, int]) -> Any:
    """Return a value with its numbers rounded as its key, or that of the nearest enclosing one, says."""
    if isinstance(value, dict):
        return {name: _rounded(inner, name, decimals) for name, inner in value.items()}
    if isinstance(value, list):
        return [_rounded(inner, key, decimals) for inner in value]
    if isinstance(value, float) and key in decimals:
        return round(value, decimals[key])
    return value
