"""What the daemon's log says of a topology's moves."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from experiments.replacement.cluster.measured_moves import (
    logged_moves,
    read_measured_moves,
    write_measured_moves,
)
from replay.errors import DataError

if TYPE_CHECKING:
    from pathlib import Path


def line(topology: str, event: str = "move measured", measured: float | None = 28.0) -> str:
    fields: dict[str, Any] = {
        "topology": topology,
        "planned_unix_s": 100.5,
        "pause_s": {"predicted": 30.0, "measured": measured},
        "workers": 4,
        "event": event,
    }
    return json.dumps(fields)


def test_moves_of_one_topology_are_found_among_all_lines(tmp_path: Path) -> None:
    """What could not be measured, what is of another topology, and words that are no JSON are left out."""
    log, kept = tmp_path / "daemon.out", tmp_path / "measured-moves.json"
    lines = [
        "stormplace daemon ready on 0.0.0.0:7090",
        line("chain-1"),
        line("chain-11"),
        line("chain-1", "move not measured", None),
        line("chain-1", "round"),
    ]
    log.write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = logged_moves(log, "chain-1")
    assert [(each.topology, each.planned_unix_s) for each in found] == [("chain-1", 100.5)]
    assert (found[0].pause_s.predicted, found[0].pause_s.measured) == (30.0, 28.0)
    assert (found[0].workers_ran_s, found[0].pause_until) == (None, "start")
    write_measured_moves(kept, found)
    assert read_measured_moves(kept) == found


def test_a_log_that_is_not_there_has_no_moves(tmp_path: Path) -> None:
    """Under Storm's own schedulers no daemon runs."""
    assert logged_moves(tmp_path / "daemon.out", "chain-1") == ()


def test_a_line_of_another_form_is_named(tmp_path: Path) -> None:
    log = tmp_path / "daemon.out"
    log.write_text(line("chain-1", measured=None) + "\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"daemon\.out: pause_s\.measured: "):
        logged_moves(log, "chain-1")
