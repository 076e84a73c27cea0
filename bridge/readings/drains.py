"""Hosts and sites that are to be emptied: which drains hold, and why the others do not."""

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


@dataclass(frozen=True)
class Drains:
    """Places that are to be emptied.

    Attributes:
        left_s: Time for which each drain still holds by place (kind, name), s; None until it is taken back.
        faults: One phrase per drain that cannot be read, which empties nothing.
    """

    left_s: Mapping[tuple[str, str], float | None]
    faults: tuple[str, ...]

    def cover(self, host: str, site: str | None) -> bool:
        """Whether a host is to be emptied."""
        return ("host", host) in self.left_s or (site is not None and ("site", site) in self.left_s)


def read_drains(drains: Sequence[Drain]) -> Drains:
    """Read drains; one that is older than its lifetime holds no more.

    Args:
        drains: As they stand in ZooKeeper.
    """
    left_s: dict[tuple[str, str], float | None] = {}
    faults = []
    for drain in drains:
        try:
            place = split(drain.place)
            lifetime_s = _DRAIN.validate_json(drain.payload)["lifetime_s"]
        except ValidationError as error:
            faults.append(f"drain {drain.place} is malformed ({first_fault(error)})")
        except ValueError as error:
            faults.append(f"drain {error}")
        else:
            rest_s = None if lifetime_s is None else lifetime_s - drain.age_ms / 1000.0
            if rest_s is None or rest_s > 0:
                left_s[place] = rest_s
    return Drains(left_s, tuple(faults))
