"""Parameters of strategies from the command line: texts, typed by the strategy's parameter class."""

from __future__ import annotations

import math
import types
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin, get_type_hints

from cli.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.contract.strategy import StrategyEntry

NONE = "none"
"""The text for None, where a parameter may be that."""


def read_parameters(
    entry: StrategyEntry[Any], settings: Sequence[str], *, until_deadline: bool = False
) -> Any:
    """Return a strategy's parameters.

    Args:
        entry: The strategy.
        settings: Texts ``KEY=VALUE`` for fields of its parameter class; the others have their defaults.
        until_deadline: Whether the defaults are those without limits of work.

    Raises:
        UserError: A key is unknown or given twice, or a value is of the wrong type or out of range.
    """
    known = [field.name for field in fields(entry.parameters) if field.init]
    hints = get_type_hints(entry.parameters)
    values: dict[str, Any] = {}
    for setting in settings:
        key, equals, text = setting.partition("=")
        if not equals or not key:
            raise UserError(f"--set {setting}: expected KEY=VALUE")
        if key not in known:
            has = f"its parameters are {', '.join(known)}" if known else "it has no parameters"
            raise UserError(f'--set {setting}: strategy {entry.name} has no parameter "{key}"; {has}')
        if key in values:
            raise UserError(f'--set {setting}: "{key}" is set twice')
        try:
            values[key] = _value(hints[key], text)
        except ValueError as error:
            raise UserError(f"--set {setting}: expected {error}") from None
    try:
        defaults = entry.parameters()
        if until_deadline:
            defaults = entry.until_deadline(defaults)
        return replace(defaults, **values)
    except ValueError as error:
        raise UserError(f"--set {error}") from None


def _value(hint: Any, text: str) -> Any:
    """Return a text as a value of a type.

    Raises:
        ValueError: It is none; the message says what is expected.
    """
    kind = get_origin(hint)
    if kind is Literal:
        return _one_of({str(each): each for each in get_args(hint)}, text)
    if kind in (Union, types.UnionType):
        return _optional(hint, text)
    if hint is bool:
        return _one_of({"true": True, "false": False}, text)
    if hint in (int, float):
        return _number(hint, text)
    if hint is str:
        return text
    raise ValueError("no --set: it cannot be set here")


def _one_of(values: dict[str, Any], text: str) -> Any:
    if text not in values:
        raise ValueError(" or ".join(values))
    return values[text]


def _optional(hint: Any, text: str) -> Any:
    """Read the first type of a union; None, if it is another one of them, has a text of its own."""
    if text == NONE and type(None) in get_args(hint):
        return None
    try:
        return _value(get_args(hint)[0], text)
    except ValueError as error:
        raise ValueError(f"{error} or {NONE}" if type(None) in get_args(hint) else str(error)) from None


def _number(kind: type[int] | type[float], text: str) -> float:
    expected = "a whole number" if kind is int else "a number"
    try:
        number = kind(text)
        finite = math.isfinite(number)
    except (ValueError, OverflowError):
        raise ValueError(expected) from None
    if not finite:
        raise ValueError(expected)
    return number
