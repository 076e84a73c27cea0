"""Bounds of values in what is published, as annotations of their types.

Pydantic asks an annotation for its rule by `__get_pydantic_core_schema__`, so that they need no library here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Within:
    """A finite number, at least, at most, or above a bound.

    Attributes:
        least: Smallest value.
        most: Largest value.
        above: Bound that the value exceeds.
    """

    least: float | None = None
    most: float | None = None
    above: float | None = None

    def __get_pydantic_core_schema__(self, source: Any, handler: Callable[[Any], Any]) -> Any:
        """Return pydantic's rule for the type with these bounds."""
        finite = {"allow_inf_nan": False} if source is float else {}
        bounds = {"ge": self.least, "le": self.most, "gt": self.above}
        return handler(source) | finite | {key: bound for key, bound in bounds.items() if bound is not None}


class Finite(Within):
    """Any number but infinities and NaN."""


@dataclass(frozen=True)
class Length:
    """A list or text of so many elements."""

    least: int
    most: int | None = None

    def __get_pydantic_core_schema__(self, source: Any, handler: Callable[[Any], Any]) -> Any:
        """Return pydantic's rule for the type with these lengths."""
        most = {} if self.most is None else {"max_length": self.most}
        return handler(source) | {"min_length": self.least} | most


@dataclass(frozen=True)
class Checked:
    """A value that a function accepts, which raises a ValueError with the reason otherwise."""

    check: Callable[[Any], None]

    def __get_pydantic_core_schema__(self, source: Any, handler: Callable[[Any], Any]) -> Any:
        """Return pydantic's rule for the type and this check."""

        def checked(value: Any) -> Any:
            self.check(value)
            return value

        function = {"type": "no-info", "function": checked}
        return {"type": "function-after", "function": function, "schema": handler(source)}


@dataclass(frozen=True)
class Unread:
    """A value that the daemon does not read, so that it refuses none."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Callable[[Any], Any]) -> Any:
        """Return pydantic's rule for any value."""
        return {"type": "any"}
