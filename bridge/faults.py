"""What is wrong with a value that pydantic refuses: one phrase with the path of the key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

_KINDS = {
    "bool_type": "true or false",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "string_type": "text",
    "model_type": "a table",
    "dataclass_type": "a table",
    "dict_type": "a table",
    "tuple_type": "a list",
    "list_type": "a list",
}
_BOUNDS = {
    "greater_than_equal": ">= {ge}",
    "greater_than": "> {gt}",
    "less_than_equal": "<= {le}",
    "less_than": "< {lt}",
    "literal_error": "{expected}",
    "string_pattern_mismatch": "text of the form {pattern}",
    "string_too_short": "text of {min_length} or more characters",
    "too_long": "a list of at most {max_length}",
    "too_short": "a list of at least {min_length}",
}
_LONGEST = 80


def phrases(error: ValidationError, prefix: str = "") -> list[str]:
    """Return one phrase per fault: `server.port: must be <= 65535, got 70000`.

    Args:
        error: What pydantic found.
        prefix: Path of the value that it looked at.
    """
    return [_phrase(item, prefix) for item in error.errors(include_url=False)]


def _phrase(error: ErrorDetails, prefix: str) -> str:
    parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in error["loc"])
    path = (prefix + "".join(parts)).lstrip(".")
    return f"{path}: {_rule(error)}" if path else _rule(error)


def _rule(error: ErrorDetails) -> str:
    kind: str = error["type"]
    context: dict[str, Any] = error.get("ctx", {})
    if kind in ("extra_forbidden", "unexpected_keyword_argument"):
        return "unknown key"
    if kind == "missing":
        return "missing"
    if kind == "value_error":
        return str(context["error"])
    if kind in _BOUNDS:
        return f"must be {_BOUNDS[kind].format(**context)}, got {_shown(error['input'])}"
    if kind in _KINDS:
        return f"must be {_KINDS[kind]}, got {_shown(error['input'])}"
    # What no model here asks for so far.
    return f"{error['msg'][0].lower()}{error['msg'][1:]}, got {_shown(error['input'])}"


def _shown(value: object) -> str:
    """Return a value as its file would write it, cut where it is long."""
    text = str(value).lower() if isinstance(value, bool) else repr(value)
    return text if len(text) <= _LONGEST else text[:_LONGEST] + " ..."
