"""Options of `taxi submit` about queries and tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from cli.errors import UserError, refused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from formats.semantics import Semantics

QueryName = Literal["1", "2", "both"]


def queries_of(name: QueryName) -> tuple[str, ...]:
    """Return the queries that `--query` names."""
    return ("1", "2") if name == "both" else (name,)


def read_numbers(option: str, texts: Sequence[str], queries: tuple[str, ...]) -> dict[str, int]:
    """Read `--tasks` or `--executors`: N for each parallel component, or COMPONENT=N, which wins.

    Raises:
        UserError: One has another form, comes twice, or names no component that may have several tasks.
    """
    from topologies.taxi.topology import SINGLE, component_ids  # noqa: PLC0415 - parses Storm's IDL

    parallel = tuple(component for component in component_ids(queries) if component not in SINGLE)
    numbers: dict[str, int] = {}
    for text in texts:
        component, equals, number = text.rpartition("=")
        if bool(equals) != bool(component) or not (number.isascii() and number.isdigit() and int(number)):
            raise UserError(f"{option} {text}: it must be N or COMPONENT=N, N a whole number above 0")
        if component in numbers:
            raise UserError(f"{option} {text}: it is given twice")
        if component and component not in parallel:
            several = ", ".join(parallel)
            raise UserError(
                f"{option} {text}: no component {component!r} with several tasks; there are {several}"
            )
        numbers[component] = int(number)
    default = numbers.pop("", None)
    return ({} if default is None else dict.fromkeys(parallel, default)) | numbers


def read_semantics(texts: Sequence[str]) -> Semantics:
    """Read `--semantics`.

    Raises:
        UserError: One has another form, comes twice, or is no setting.
    """
    from formats.semantics import parse_settings  # noqa: PLC0415 - keeps other commands quick

    with refused(ValueError, by="--semantics"):
        return parse_settings(texts)
