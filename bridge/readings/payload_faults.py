"""A fault in the content of a znode has a kind and a phrase that names it."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import ValidationError

_BOUNDS = frozenset({"greater_than", "greater_than_equal", "less_than", "less_than_equal", "finite_number"})


class PayloadFault(StrEnum):
    """Why a reading is refused."""

    MALFORMED = "malformed"
    """No JSON, packed but damaged, or a field that is missing or of another type."""
    VERSION = "version"
    """Of a version that is not known here, such as that of a newer agent."""
    IMPOSSIBLE = "impossible"
    """All there, but a number that cannot be: negative, not finite, too large."""
    FOREIGN = "foreign"
    """It says that it is of another host or topology than its znode."""
    DUPLICATE = "duplicate"
    """The second one of its host or topology."""


def kind_of(error: ValidationError) -> PayloadFault:
    """Return the kind of what pydantic found in a payload: version first, then form, then numbers."""
    found = error.errors(include_url=False, include_context=False, include_input=False)
    if any(fault["loc"] == ("version",) and fault["type"] == "literal_error" for fault in found):
        return PayloadFault.VERSION
    if all(fault["type"] in _BOUNDS for fault in found):
        return PayloadFault.IMPOSSIBLE
    return PayloadFault.MALFORMED


def first_fault(error: ValidationError) -> str:
    """Say what is wrong first with a payload: field and rule, without the value.

    The phrase is the same as long as the fault is, so that the log can name it once.
    """
    first = error.errors(include_url=False)[0]
    if first["type"] == "json_invalid":
        return "not JSON"
    place = ".".join(str(part) for part in first["loc"])
    return f"{place + ': ' if place else ''}{first['msg']}"
