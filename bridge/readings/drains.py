"""Hosts and sites that are to be emptied: which drains hold, which are announced, and why the others do not.

Ages decide, as with lifetimes: a recorded round has them, so that it is planned again in the same way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import TypeAdapter, ValidationError

from bridge.readings.payload_faults import first_fault
from formats.drain import DrainFields, split

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bridge.wire.messages import Drain

_DRAIN = TypeAdapter(DrainFields)


Place = tuple[str, str]
"""Kind (`host` or `site`) and name."""


@dataclass(frozen=True)
class Announcement:
    """A drain that has not begun.

    Attributes:
        begins_s: Time until it begins, s (> 0).
        left_s: Time until it ends, s; None until it is taken back.
    """

    begins_s: float
    left_s: float | None


@dataclass(frozen=True)
class Drains:
    """Places that are to be emptied.

    Attributes:
        left_s: Time for which each drain still holds by place, s; None until it is taken back.
        announced: Those that have not begun, by place.
        faults: One phrase per drain that cannot be read, which empties nothing.
    """

    left_s: Mapping[Place, float | None]
    announced: Mapping[Place, Announcement]
    faults: tuple[str, ...]

    def cover(self, host: str, site: str | None) -> bool:
        """Whether a host is to be emptied."""
        return any(place in self.left_s for place in _places(host, site))

    def begins_s(self, host: str, site: str | None) -> float | None:
        """Return the time until a host is to be emptied, s; None if it is, or none is announced."""
        if self.cover(host, site):
            return None
        found = [self.announced[place].begins_s for place in _places(host, site) if place in self.announced]
        return min(found, default=None)


def _places(host: str, site: str | None) -> tuple[Place, ...]:
    return (("host", host),) if site is None else (("host", host), ("site", site))


def read_drains(drains: Sequence[Drain]) -> Drains:
    """Read drains; one that is older than its lifetime holds no more.

    Args:
        drains: As they stand in ZooKeeper.
    """
    left_s: dict[Place, float | None] = {}
    announced: dict[Place, Announcement] = {}
    faults = []
    for drain in drains:
        try:
            place = split(drain.place)
            fields = _DRAIN.validate_json(drain.payload)
        except ValidationError as error:
            faults.append(f"drain {drain.place} is malformed ({first_fault(error)})")
        except ValueError as error:
            faults.append(f"drain {error}")
        else:
            age_s, lifetime_s = drain.age_ms / 1000.0, fields["lifetime_s"]
            rest_s = None if lifetime_s is None else lifetime_s - age_s
            begins_s = fields.get("begins_s", 0.0) - age_s
            if rest_s is not None and rest_s <= 0:
                continue
            if begins_s > 0:
                announced[place] = Announcement(begins_s, rest_s)
            else:
                left_s[place] = rest_s
    return Drains(left_s, announced, tuple(faults))
