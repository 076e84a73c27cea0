"""Messages become structs of placement.thrift and the other way round, field by field."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import is_dataclass
from enum import IntEnum
from typing import Any, NamedTuple, TypeVar, get_args, get_type_hints

from bridge.wire import messages
from bridge.wire.contract import WireError, idl

MessageT = TypeVar("MessageT")


class _Field(NamedTuple):
    """What is known of a field: its message type or enumeration, None of plain values; whether it must be."""

    message: Any
    enum: Any
    required: bool


def _field(hint: Any, *, required: bool) -> _Field:
    kind = (*get_args(hint), hint)[0]
    is_enum = isinstance(kind, type) and issubclass(kind, IntEnum)
    return _Field(kind if is_dataclass(kind) else None, kind if is_enum else None, required)


def _fields(kind: type) -> dict[str, _Field]:
    # A thrift specification ends with its `required` flag.
    required = {spec[1]: spec[-1] for spec in getattr(idl, kind.__name__).thrift_spec.values()}
    return {name: _field(hint, required=required[name]) for name, hint in get_type_hints(kind).items()}


_FIELDS: dict[Any, dict[str, _Field]] = {
    kind: _fields(kind) for kind in vars(messages).values() if is_dataclass(kind) and isinstance(kind, type)
}


def to_thrift(message: Any) -> Any:
    """Turn a message into its thrift struct: lists in the places of tuples."""
    values = {}
    for name, field in _FIELDS[type(message)].items():
        value = getattr(message, name)
        if isinstance(value, tuple):
            value = list(value) if field.message is None else [to_thrift(each) for each in value]
        elif field.message is not None and value is not None:
            value = to_thrift(value)
        values[name] = value
    return getattr(idl, type(message).__name__)(**values)


def from_thrift(kind: type[MessageT], raw: Any, path: str = "") -> MessageT:
    """Turn a thrift struct into its message.

    Args:
        kind: Type of the message.
        raw: The struct.
        path: Its place in the whole message, with a dot at the end.

    Raises:
        WireError: A required field is missing or a number is no enumerator; with the path.
    """
    values: dict[str, Any] = {}
    for name, field in _FIELDS[kind].items():
        value = getattr(raw, name)
        if value is None:
            if field.required:
                raise WireError(f"{path}{name}: missing")
            continue
        if field.message is not None or field.enum is not None:
            value = _converted(field, value, path + name)
        elif isinstance(value, list):
            value = tuple(value)
        values[name] = value
    return kind(**values)


def _converted(field: _Field, value: Any, path: str) -> Any:
    """Return a message, an enumerator, or a tuple of either."""
    if isinstance(value, list):
        if field.enum is not None:
            with suppress(ValueError):  # a wrong one is looked for below
                return tuple(map(field.enum, value))
        return tuple(_converted(field, each, f"{path}[{index}]") for index, each in enumerate(value))
    if field.message is not None:
        return from_thrift(field.message, value, f"{path}.")
    try:
        return field.enum(value)
    except ValueError:
        raise WireError(f"{path}: {value} is no {field.enum.__name__}") from None
