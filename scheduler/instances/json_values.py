"""Values of JSON documents, checked with their paths."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from scheduler.base.checks import ModelError, shown

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def inside(prefix: str) -> Iterator[None]:
    """Give errors of the model the path of the object under construction."""
    try:
        yield
    except ModelError as error:
        raise error.under(prefix) from None


def json_object(
    path: str,
    given: object,
    *,
    required: tuple[str, ...] | None = None,
    optional: tuple[str, ...] | None = None,
) -> dict[str, Any]:
    """Return a copy of a JSON object; without `required` and `optional` any keys are permitted."""
    if not isinstance(given, dict):
        raise ModelError(path, f"expected an object, got {shown(given)}")
    if required is None and optional is None:
        return dict(given)
    known = (required or ()) + (optional or ())
    for key in given:
        if key not in known:
            raise ModelError(path, f"unknown key {shown(key)}; the keys are {', '.join(known)}")
    for key in required or ():
        if key not in given:
            raise ModelError(path, f"{shown(key)} is missing")
    return dict(given)


def json_array(path: str, given: object) -> list[Any]:
    """Return a JSON array."""
    if not isinstance(given, list):
        raise ModelError(path, f"expected an array, got {shown(given)}")
    return given


def json_items(path: str, given: object) -> Iterator[tuple[str, Any]]:
    """Yield the values of an array, each with its path."""
    return ((f"{path}[{k}]", each) for k, each in enumerate(json_array(path, given)))
