"""Settings that arrive as one text of JSON, whatever users and other programs put into it."""

from __future__ import annotations

import json
from typing import Any

LARGEST = 1e15
"""No setting has a use for a number of this size; NaN and the infinities are not below it either."""
# A constraint has three levels below its key. Much deeper ones could not even be shown.
_MOST_LEVELS = 20
_SHOWN_CHARACTERS = 60


def read_settings(text: str | None, whose: str) -> tuple[dict[str, Any], dict[str, str]]:
    """Read the keys of a JSON object.

    Args:
        text: The object; None and an empty text stand for one without keys.
        whose: What the settings are called.

    Returns:
        The keys with their values, and by key a phrase about those that cannot be read and are left out; the
        phrase is under an empty key if it is about all of them.
    """
    try:
        given = json.loads(_encodable(text or "{}"))
    except (ValueError, RecursionError):
        return {}, {"": f"{whose} settings are no JSON"}
    if not isinstance(given, dict):
        return {}, {"": f"{whose} settings are no JSON object"}
    deep = {
        key: f"{key}: must have at most {_MOST_LEVELS} levels"
        for key, value in given.items()
        if _is_deep(value)
    }
    return {key: value for key, value in given.items() if key not in deep}, deep


def shown(value: Any) -> str:
    """Return a value as a phrase about it shows it, cut where it is long."""
    text = repr(value)
    return text if len(text) <= _SHOWN_CHARACTERS else text[: _SHOWN_CHARACTERS - 3] + "..."


def _encodable(text: str) -> str:
    """Replace halves of surrogate pairs, which JSON can escape and no answer can carry."""
    if "\\ud" not in text.lower():
        return text
    plain = json.dumps(json.loads(text), ensure_ascii=False)
    return plain.encode(errors="replace").decode()


def _is_deep(value: Any) -> bool:
    """Whether a value has too many levels; found out level by level, as recursion would be too deep."""
    level = [value]
    for _ in range(_MOST_LEVELS + 1):
        groups = [
            each.values() if isinstance(each, dict) else each
            for each in level
            if isinstance(each, dict | list)
        ]
        if not groups:
            return False
        level = [child for group in groups for child in group]
    return True
