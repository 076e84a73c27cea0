"""How values of the model are checked: one sentence that names the place."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, SupportsFloat

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

LARGEST = 1e15
"""Largest magnitude of a value of the model; products of three of them still fit a float."""


class ModelError(ValueError):
    """A value that the model refuses.

    Attributes:
        where: Place inside the object under construction, such as ``operators[3].demand.slots``.
        message: What was expected there and what was found.
    """

    def __init__(self, where: str, message: str) -> None:
        super().__init__(f"{where}: {message}")
        self.where = where
        self.message = message

    def __reduce__(self) -> tuple[type[ModelError], tuple[str, str]]:
        return type(self), (self.where, self.message)

    def under(self, prefix: str) -> ModelError:
        """Return the same error seen from an enclosing object."""
        joint = "" if self.where.startswith("[") or not self.where else "."
        return ModelError(f"{prefix}{joint}{self.where}", self.message)


def shown(value: object) -> str:
    """Return a value as a message quotes it: like JSON, and short."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{value if len(value) <= 40 else value[:37] + "..."}"'
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list | tuple):
        return "an array"
    return str(value)


def number(
    where: str,
    value: object,
    *,
    least: float = 0.0,
    most: float = LARGEST,
    above: float | None = None,
) -> float:
    """Return a finite number within bounds.

    Args:
        where: Place for the message.
        value: What was given.
        least: Smallest permitted value.
        most: Largest permitted value.
        above: If given, a bound that the value must exceed; it replaces `least`.

    Raises:
        ModelError: The value is no number, is NaN or infinite, or lies outside the bounds.
    """
    # large instances have many plain good numbers, which all else here would slow down
    if isinstance(value, float | int) and not isinstance(value, bool):
        high_enough = above < value if above is not None else least <= value
        if high_enough and value <= most:
            return float(value)
    lower = f"> {above:g}" if above is not None else f">= {least:g}"
    expected = f"expected a number {lower}" + (f" and <= {most:g}" if most < LARGEST else "")
    if not isinstance(value, SupportsFloat) or isinstance(value, bool):
        raise ModelError(where, f"{expected}, got {shown(value)}")
    try:
        given = float(value)
    except OverflowError:  # an integer beyond the range of floats
        given = math.inf
    too_low = given <= above if above is not None else given < least
    if not math.isfinite(given) or too_low:
        raise ModelError(where, f"{expected}, got {shown(value)}")
    if given > most:
        limit = f"expected a number <= {most:g}" if most >= LARGEST else expected
        raise ModelError(where, f"{limit}, got {shown(value)}")
    return given


def numbers(where: str, values: Sequence[float]) -> None:
    """Check that each of some numbers is one of at least 0.

    Raises:
        ModelError: Of the first that is not, with its place.
    """
    for k, value in enumerate(values):
        # most are, and to put a place into words takes longer than to look
        if type(value) is not float or not 0.0 <= value <= LARGEST:
            number(f"{where}[{k}]", value)


def at_least(where: str, least: int, count: int) -> int:
    """Return a whole number of at least `least`.

    Raises:
        ModelError: It is less.
    """
    if count < least:
        raise ModelError(where, f"expected at least {least}, got {count}")
    return count


def name(where: str, value: object) -> str:
    """Return a name: a string that is not empty.

    Raises:
        ModelError: The value is something else.
    """
    if not isinstance(value, str) or not value.strip():
        raise ModelError(where, f"expected a name, got {shown(value)}")
    return value


def one_of(where: str, value: object, known: tuple[str, ...]) -> None:
    """Check that a value is one of some words.

    Raises:
        ModelError: It is not.
    """
    if value not in known:
        words = " or ".join(f'"{each}"' for each in known)
        raise ModelError(where, f"expected {words}, got {shown(value)}")


def quantities(where: str, values: Mapping[str, float]) -> dict[str, float]:
    """Return a checked copy of amounts by resource name (each >= 0).

    Raises:
        ModelError: A name is empty or an amount is not a number >= 0.
    """
    return {
        name(where, resource): number(f"{where}.{resource}", amount) for resource, amount in values.items()
    }


def unique(where: str, names: Iterable[str]) -> dict[str, int]:
    """Return the position of each name.

    Raises:
        ModelError: A name occurs twice; the place is that of the second one.
    """
    positions: dict[str, int] = {}
    for position, each in enumerate(names):
        if each in positions:
            raise ModelError(
                f"{where}[{position}].name", f"{shown(each)} is the name of {where}[{positions[each]}] too"
            )
        positions[each] = position
    return positions


def whole_number(parameter: str, value: object, least: int) -> None:
    """Refuse a strategy's parameter that is no whole number of at least `least`.

    Raises:
        ValueError: It is something else.
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ValueError(f"{parameter}: expected a whole number >= {least}, got {value!r}")


def positive_number(parameter: str, value: object, *, expected: str = "a number > 0") -> None:
    """Refuse a strategy's parameter that is no finite number above 0.

    Raises:
        ValueError: It is something else.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
        raise ValueError(f"{parameter}: expected {expected}, got {value!r}")


def distinct_names(where: str, values: object) -> tuple[str, ...]:
    """Return names, at least one and each once.

    Raises:
        ModelError: The values are something else.
    """
    if not isinstance(values, list | tuple) or not values:
        raise ModelError(where, f"expected names of {where}, got {shown(values)}")
    names = tuple(name(f"{where}[{k}]", each) for k, each in enumerate(values))
    for k, each in enumerate(names):
        if each in names[:k]:
            raise ModelError(f"{where}[{k}]", f"{shown(each)} is there twice")
    return names
