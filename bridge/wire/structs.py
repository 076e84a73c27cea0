"""Messages become structs of placement.thrift and the other way round, field by field."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from enum import IntEnum
from typing import Any, TypeVar, get_args, get_type_hints

from bridge.wire import messages
from bridge.wire.contract import WireError, check_present, idl

MessageT = TypeVar("MessageT")

_HINTS: dict[Any, dict[str, Any]] = {
    kind: get_type_hints(kind) for kind in vars(messages).values() if is_dataclass(kind)
}


def to_thrift(message: Any) -> Any:
    """Turn a message into its thrift struct: lists in the places of tuples."""
    values = {field.name: _raw(getattr(message, field.name)) for field in fields(message)}
    return getattr(idl, type(message).__name__)(**values)


def from_thrift(kind: type[MessageT], raw: Any, path: str = "") -> MessageT:
    """Turn a thrift struct into its message.

    Args:
        kind: Type of the message.
        raw: The struct.
        path: Its place in the whole message.

    Raises:
        WireError: A required field is missing or a number is no enumerator; with the path.
    """
    check_present(raw, path)
    before = f"{path}." if path else ""
    return kind(
        **{name: _value(hint, getattr(raw, name), before + name) for name, hint in _HINTS[kind].items()}
    )


def _raw(value: Any) -> Any:
    if isinstance(value, tuple):
        return [to_thrift(each) for each in value] if value and is_dataclass(value[0]) else list(value)
    return to_thrift(value) if is_dataclass(value) else value


def _value(hint: Any, raw: Any, path: str) -> Any:
    """Return the value of a field that is annotated as a type, a tuple of one, or as optional."""
    if raw is None:
        return None
    kind = (*get_args(hint), hint)[0]
    is_enum = isinstance(kind, type) and issubclass(kind, IntEnum)
    if not is_enum and not is_dataclass(kind):
        return tuple(raw) if isinstance(raw, list) else raw
    if isinstance(raw, list):
        return tuple(_value(kind, each, f"{path}[{index}]") for index, each in enumerate(raw))
    if not is_enum:
        return from_thrift(kind, raw, path)
    try:
        return kind(raw)
    except ValueError:
        raise WireError(f"{path}: {raw} is no {kind.__name__}") from None
