"""A host or site that is to be emptied: the JSON object of the znode `<root>/drains/<place>`.

`stormplace drain` writes it, the daemon and `stormplace network` read it; `stormplace undrain` removes it. A
place is `host:NAME` or `site:NAME`, as pins name it. A reader ignores keys that it does not know.

A drain that is only announced has a version of its own: a reader of before would empty the place at once.
"""

from __future__ import annotations

import json
from typing import Annotated, Literal, NotRequired

from annotated_types import Ge, Gt
from typing_extensions import TypedDict  # pydantic, which reads it, takes no other before Python 3.12

from formats.node_reading import READ

FOLDER = "drains"
"""Name of the folder below the root."""
BEGUN: Literal[1] = 1
"""Version of a drain that holds from its last change on."""
ANNOUNCED: Literal[2] = 2
"""Version of one that begins later."""


class DrainFields(TypedDict):
    """A drain.

    Attributes:
        version: `BEGUN` or `ANNOUNCED`.
        lifetime_s: Time after its last change until it ends, s; None holds until it is taken back.
        begins_s: Time after its last change until it begins, s; left out of one that holds at once.
    """

    version: Literal[1, 2]
    lifetime_s: Annotated[float, Gt(0)] | None
    begins_s: NotRequired[Annotated[float, Ge(0)]]


DrainFields.__pydantic_config__ = READ  # type: ignore[attr-defined]  # its hook


def content_of(lifetime_s: float | None, begins_s: float = 0.0) -> bytes:
    """Return the text of a drain.

    Args:
        lifetime_s: Time until it ends, s; None holds until it is taken back.
        begins_s: Time until it begins, s; 0: it holds at once.
    """
    fields: DrainFields = {"version": ANNOUNCED if begins_s > 0 else BEGUN, "lifetime_s": lifetime_s}
    if begins_s > 0:
        fields["begins_s"] = begins_s
    return json.dumps(fields).encode()


def split(place: str) -> tuple[str, str]:
    """Return kind (`host` or `site`) and name of a place.

    Raises:
        ValueError: The text is no place.
    """
    kind, colon, name = place.partition(":")
    if kind not in ("host", "site") or not colon or not name or "/" in name:
        raise ValueError(f"{place!r} is neither host:NAME nor site:NAME")
    return kind, name
