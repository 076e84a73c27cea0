"""Hosts as the settings of topologies name them: one host, those of a site, or those of a tier."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from bridge.wishes.setting_texts import shown
from formats.tier import TIERS

PLACE_FORMS = f'"site:NAME", "host:NAME" or "tier:{"|".join(TIERS)}"'
"""How places are written."""


@dataclass(frozen=True, slots=True)
class Place:
    """A site, a host or a tier, as pins and avoidances name it."""

    kind: Literal["site", "host", "tier"]
    name: str

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}"


def read_place(value: Any) -> Place:
    """Read a place.

    Raises:
        ValueError: It has none of `PLACE_FORMS`.
    """
    match value.partition(":") if isinstance(value, str) else value:
        case ("site" | "host" as kind, _, str(name)) if name:
            return Place(kind, name)
        case ("tier", _, str(name)) if name in TIERS:
            return Place("tier", name)
    raise ValueError(f"a place is {PLACE_FORMS}, got {shown(value)}")
