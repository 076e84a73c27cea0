"""Saves and loads what an agent remembers: its coordinate, its host's past and its links'."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from formats.state_file import write_state
from monitoring import state_file
from monitoring.agent.availability import History, add_time
from monitoring.agent.link_memory import LinkMemory, links_from_json, links_to_json
from monitoring.coordinate import Coordinate
from monitoring.json_input import amount_at, json_object, list_at, number_at

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

_VERSION = 1
_BEGIN = re.compile(rb'\s*\{\s*"version"\s*:\s*\d+\s*,\s*"saved"')

RESTART_ERROR = 0.5
"""Least error of a restored coordinate: others should not lean on it before it was measured again."""


@dataclass(frozen=True, slots=True)
class State:
    """Content of a state file.

    Attributes:
        saved_s: Unix time of the file, s.
        clean: Whether the agent was stopped on purpose; otherwise the time since then was an outage.
        coordinate: The last coordinate.
        history: Good and bad seconds, and outages, of the availability.
        links: Past of each link, by peer.
    """

    saved_s: float
    clean: bool
    coordinate: Coordinate
    history: History
    links: Mapping[str, LinkMemory] = field(default_factory=dict)


def save(path: Path, state: State) -> None:
    """Write the file as `write_state` does.

    Raises:
        OSError: If it cannot be written.
    """
    place = state.coordinate
    content = {
        "version": _VERSION,
        "saved": state.saved_s,
        "clean": state.clean,
        "coordinate": list(place.position_ms),
        "height": place.height_ms,
        "error": place.error,
        "good_s": state.history.good_s,
        "bad_s": state.history.bad_s,
        "outages": state.history.outages,
        "since_outage_s": state.history.since_outage_s,
        "links": links_to_json(state.links),
    }
    write_state(path, content)


def foreign(path: Path) -> str | None:
    """Say why a file must not be overwritten: it is no state of an agent; None if it may be."""
    return state_file.foreign(path, _BEGIN, "state of an agent")


def load(path: Path, dimensions: int, on_fault: Callable[[str], None]) -> State:
    """Read the file.

    Args:
        path: The file.
        dimensions: Dimensions of the coordinate space in use.
        on_fault: Called with the reason if the links' part cannot be used; the rest counts all the same.

    Raises:
        FileNotFoundError: If there is none yet.
        ValueError: With the reason, if it is not a state file of this version and space.
        OSError: If it cannot be read.
    """
    fields = json_object(path.read_bytes())
    if fields.get("version") != _VERSION:
        raise ValueError(f"not a state file of version {_VERSION}")
    position = list_at("coordinate", fields.get("coordinate"))
    place_ms = tuple(number_at(f"coordinate[{index}]", value) for index, value in enumerate(position))
    saved_s, height_ms, error = (number_at(key, fields.get(key)) for key in ("saved", "height", "error"))
    coordinate = Coordinate(place_ms, height_ms, error)
    fault = coordinate.fault(dimensions)
    if fault:
        raise ValueError(f"coordinate: {fault}")
    since_outage_s = fields.get("since_outage_s")
    history = History(
        good_s=amount_at("good_s", fields.get("good_s")),
        bad_s=amount_at("bad_s", fields.get("bad_s")),
        outages=amount_at("outages", fields.get("outages", 0.0)),  # files of earlier agents have none
        since_outage_s=None if since_outage_s is None else amount_at("since_outage_s", since_outage_s),
    )
    links: dict[str, LinkMemory] = {}
    try:
        if "links" in fields:  # not in a file of an earlier agent
            links = links_from_json(fields["links"])
    except ValueError as error:
        on_fault(str(error))
    return State(saved_s, fields.get("clean") is True, coordinate, history, links)


def resume(state: State, now_s: float) -> State:
    """Give the state to go on from after a pause.

    Args:
        state: As it was saved.
        now_s: Unix time, s. A clock that went back counts as no pause.
    """
    pause_s = max(0.0, now_s - state.saved_s)
    if state.clean:
        history = state.history.fade(pause_s)
    else:
        history = add_time(state.history, pause_s, bad=True).with_outage()
    place = state.coordinate
    coordinate = Coordinate(place.position_ms, place.height_ms, max(place.error, RESTART_ERROR))
    # After a clock that went back the age of a link's past is unknown.
    links = {peer: link.age(pause_s) for peer, link in state.links.items() if now_s >= state.saved_s}
    return State(now_s, state.clean, coordinate, history, links)
