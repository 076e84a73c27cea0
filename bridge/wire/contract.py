"""The contract placement.thrift as loaded by thriftpy2, and the checks that every message passes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import thriftpy2

if TYPE_CHECKING:
    from collections.abc import Iterable

# thriftpy2 generates the module at import and has no types: Any stays within the wire files.
idl: Any = thriftpy2.load(
    str(Path(__file__).parents[1] / "placement.thrift"), module_name="bridge.placement_thrift"
)
VERSION: int = idl.VERSION
OLDEST_VERSION: int = idl.OLDEST_VERSION


class WireError(ValueError):
    """A message that breaks the contract of placement.thrift; the text names the field."""


class VersionError(WireError):
    """A message of a version that is not spoken here; the text names the versions that are."""


def check_version(version: int | None, what: str) -> None:
    """Refuse a message of a version that is not spoken here."""
    if version is None or not OLDEST_VERSION <= version <= VERSION:
        spoken = f"versions {OLDEST_VERSION} to {VERSION} are spoken"
        raise VersionError(f"{what}: contract version {version} is not known here, {spoken}")


def check_present(struct: Any, path: str) -> None:
    """Refuse a struct that lacks a required field."""
    for spec in struct.thrift_spec.values():
        # A thrift specification ends with its `required` flag.
        if spec[-1] and getattr(struct, spec[1]) is None:
            raise WireError(f"{path}.{spec[1]}: missing")


def check_unique(values: Iterable[str], path: str, field: str) -> None:
    """Refuse a list in which two elements share the value of a field."""
    seen: set[str] = set()
    for index, value in enumerate(values):
        if value in seen:
            raise WireError(f"{path}[{index}].{field}: {value!r} occurs twice")
        seen.add(value)
