"""The content of a host's reading is taken as far as it is possible (`formats.node_reading`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json, to_json

from bridge.readings.payload_text import text_of
from formats.node_reading import NodeFields

_READING = TypeAdapter(NodeFields)
_LEFT_OUT = ("load", "outages", "workers")


@dataclass(frozen=True)
class NodePayload:
    """What can be read of a reading.

    Attributes:
        fields: Its content without what is impossible in `links`, `load`, `outages` and `workers`; all else
            is possible.
        bad_links: One phrase per link that was left out.
        bad_figures: One phrase per impossible figure of load, outages and workers, which are left out as a
            whole: no delay depends on them.
    """

    fields: NodeFields
    bad_links: tuple[str, ...] = ()
    bad_figures: tuple[str, ...] = ()


def parse_node(content: bytes) -> NodePayload:
    """Read the content of a znode, packed or not.

    Raises:
        ValidationError: The content cannot be unpacked, is not JSON or not a possible reading of a known
            version; links, load, outages and workers apart, any fault costs the whole reading.
    """
    text = text_of(content)
    try:
        return NodePayload(_READING.validate_json(text))
    except ValidationError as error:
        faults = error.errors(include_url=False, include_context=False, include_input=False)
        if not all(fault["loc"] for fault in faults):  # not JSON or not an object
            raise
    data: dict[str, Any] = from_json(text)
    bad_links: dict[str, str] = {}
    bad_figures = []
    for fault in faults:
        table, *place = fault["loc"]
        if table in _LEFT_OUT:
            data.pop(str(table), None)
            path = ".".join(str(part) for part in fault["loc"])
            bad_figures.append(f"holds impossible {path}: {fault['msg']}")
        elif table == "links" and not place:
            del data["links"]
            bad_links[""] = fault["msg"]
        elif table == "links":
            field = "".join(f" {part}" for part in place[1:])
            bad_links.setdefault(str(place[0]), f"to {place[0]}:{field} {fault['msg']}")
            data["links"].pop(str(place[0]), None)
    fields = _READING.validate_json(to_json(data, inf_nan_mode="constants"))
    return NodePayload(fields, tuple(bad_links.values()), tuple(bad_figures))
