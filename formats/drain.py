"""A host or site that is to be emptied: the JSON object of the znode `<root>/drains/<place>`.

`stormplace drain` writes it, the daemon and `stormplace network` read it; `stormplace undrain` removes it. A
place is `host:NAME` or `site:NAME`, as pins name it. A reader ignores keys that it does not know.
"""

from __future__ import annotations

import json
from typing import Annotated, Literal

from annotated_types import Gt
from typing_extensions import TypedDict  # pydantic, which reads it, takes no other before Python 3.12

from formats.node_reading import READ

FOLDER = "drains"
"""Name of the folder below the root."""
VERSION: Literal[1] = 1


class DrainFields(TypedDict):
    """A drain.

    Attributes:
        version: Of the format.
        lifetime_s: Time after its last change for which it holds, s; None holds until it is taken back.
    """

    version: Literal[1]
    lifetime_s: Annotated[float, Gt(0)] | None


DrainFields.__pydantic_config__ = READ  # type: ignore[attr-defined]  # its hook


def content_of(lifetime_s: float | None) -> bytes:
    """Return the text of a drain that holds for so long, s; None holds until it is taken back."""
    fields: DrainFields = {"version": VERSION, "lifetime_s": lifetime_s}
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
