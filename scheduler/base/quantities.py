"""Numbers that are fields of dataclasses of the model: their bounds and defaults, stated with the field."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from functools import cache
from typing import TYPE_CHECKING, Any

from scheduler.base.checks import LARGEST, number

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Quantity:
    """What values a field may have.

    Attributes:
        default: Where it is not given.
        least: Smallest permitted value.
        most: Largest permitted value.
        above: If not None, a bound that it must exceed, instead of `least`.
        always_written: Whether documents state it also where it has its default.
    """

    default: float
    least: float = 0.0
    most: float = LARGEST
    above: float | None = None
    always_written: bool = False


def quantity(default: float, **bounds: Any) -> Any:
    """Return a dataclass field for a finite number; bounds are the other attributes of `Quantity`."""
    return field(default=default, metadata={Quantity: Quantity(default, **bounds)})


@cache
def quantities_of(kind: type[Any]) -> Mapping[str, Quantity]:
    """Return the quantities of a dataclass by the names of their fields, in order."""
    return {each.name: each.metadata[Quantity] for each in fields(kind) if Quantity in each.metadata}


def check_quantities(instance: Any) -> None:
    """Replace the quantities of a frozen dataclass instance by checked floats.

    Raises:
        ModelError: One is no number within its bounds; the place is the name of the field.
    """
    kind: Any = type(instance)  # mypy takes a class for one of its instances when it looks for __hash__
    for name, bounds in quantities_of(kind).items():
        given = getattr(instance, name)
        if given is bounds.default:
            continue  # there are thousands of operators with few quantities
        checked = number(name, given, least=bounds.least, most=bounds.most, above=bounds.above)
        object.__setattr__(instance, name, checked)
